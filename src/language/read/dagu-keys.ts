import type { Json, JsonObject } from '#core/workflow.ts';
import { type Path, type Problem, pathMark, problem, type Source } from '../diagnostic.ts';
import { listKind, oneAfterAnother } from '../forms/command-list.ts';
import { isJsonObject } from '../raw.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { executorOfType } from './advice.ts';

/** The result of replacing the keys of Dagu 2 in a file. */
type DaguKeys = {
  readonly problems: readonly Problem[];
  /** The spellings of all keys, also of those that were replaced, by `pathMark` of the documented ones. */
  readonly spellings: ReadonlyMap<string, string>;
  /** Maps that lack a value which was invalid and is reported. */
  readonly damaged: ReadonlySet<unknown>;
  /** Whether the keys show that the file was written for Dagu 1.17 or later. */
  readonly isOfLaterDagu: boolean;
};

type JsonMap = Record<string, Json>;
/** A map under change, its path, and the collected results. */
type Target = {
  readonly source: Source;
  readonly map: JsonMap;
  readonly path: Path;
  readonly problems: Problem[];
  readonly spellings: Map<string, string>;
  readonly damaged: Set<unknown>;
};

/** A key that cannot be replaced, and why. */
type Fault = {
  readonly key: string;
  readonly message: string;
  readonly code?: 'conflicting-keys' | 'wrong-type' | 'missing-key';
  readonly help?: string;
};

/** Replaces the keys of Dagu 2 in a file as read by the documented ones. `value` is changed. `isOfDagu3`: of Dagu 2.15. */
export function readDaguKeys(
  source: Source,
  value: Json,
  written: ReadonlyMap<string, string>,
  isOfDagu3 = false,
): DaguKeys {
  const problems: Problem[] = [];
  const spellings = new Map(written);
  const damaged = new Set<unknown>();
  if (!isJsonObject(value)) return { problems, spellings, damaged, isOfLaterDagu: false };
  const isOfLaterDagu = isOfDagu3 || isOfDagu117(value, written);
  const warnings = differences(source, value, written);
  const target = (path: Path, map: JsonMap): Target => ({ source, map, path, problems, spellings, damaged });
  for (const [path, step] of actionsIn(value)) {
    const isUsual = typeof step.call !== 'string' && step.type === undefined && step.with === undefined;
    if (isUsual && written.size === 0) continue;
    const at = target(path, step);
    for (const change of [textCall, listOnly, typeWithSettings]) report(at, change);
  }
  // `overlapPolicy: all` lets every run wait, as `overlap: queue` does.
  const top = value as JsonMap;
  const isPolicy = canonicalKey(spellings.get('overlap') ?? '') === 'overlappolicy';
  if (isPolicy && top.overlap === 'all') top.overlap = 'queue';
  if (isOfLaterDagu) activeRuns(target([], top));
  for (const [path, secret] of mapsIn(value.secrets, ['secrets'])) report(target(path, secret), providedKey);
  return { problems: [...problems, ...warnings], spellings, damaged, isOfLaterDagu };
}

/** Keys that Dagu has since 1.17, and Blackdagger and earlier Dagus have not. */
const LATER_KEYS = ['labels', 'queue', 'dotenv', 'workingDir', 'container', 'registryAuths', 'maxActiveSteps'];
const LATER_STEP_KEYS = ['id', 'parallel', 'container', 'workingDir', 'type', 'with', 'approval'];

function isOfDagu117(top: JsonObject, written: ReadonlyMap<string, string>): boolean {
  if (LATER_KEYS.some((key) => top[key] !== undefined) || Array.isArray(top.params)) return true;
  if ([...written.values()].some((key) => key.includes('_'))) return true;
  return actionsIn(top).some(([path, map]) => {
    const hasLater = LATER_STEP_KEYS.some((name) => map[name] !== undefined) || typeof map.call === 'string';
    return hasLater || isExec(path, written);
  });
}

/** `maxActiveRuns` limits runs, as `maxConcurrent` does. -1 is no limit. */
function activeRuns(target: Target): void {
  const { maxActiveRuns: most, maxActiveSteps, maxConcurrent } = target.map;
  if (most === undefined || maxActiveSteps !== undefined || maxConcurrent !== undefined) return;
  delete target.map.maxActiveRuns;
  put(target, 'maxConcurrent', most === -1 ? 0 : most, 'maxActiveRuns');
}

/** The steps and handlers of a file, with their paths. */
function actionsIn(top: JsonObject): [Path, JsonMap][] {
  return ['steps', 'handlerOn'].flatMap((key) => mapsIn(top[key], [key]));
}

/** The maps in a list or map, with their paths. */
function mapsIn(value: Json | undefined, path: Path): [Path, JsonMap][] {
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, entry]: [string, Json]): [Path, JsonMap][] =>
    isJsonObject(entry) ? [[[...path, isList ? Number(key) : key], entry as JsonMap]] : [],
  );
}

/** `call: TEXT` is `run: TEXT`. */
function textCall(target: Target): Fault | null {
  const { map } = target;
  const { call } = map;
  if (typeof call !== 'string') return null;
  delete map.call;
  if (map.run !== undefined) return { key: 'call', message: '"call" with text and "run" are the same key' };
  return put(target, 'run', call, 'call');
}

/** `exec` is a `command` that can only be a list. */
function listOnly({ map, path, spellings }: Target): Fault | null {
  if (!isExec(path, spellings) || Array.isArray(map.command)) return null;
  delete map.command;
  const message = '"exec" must be a list: the program and its arguments';
  return { key: 'command', message, code: 'wrong-type' };
}

/** `type` and `with` are the `type` and `config` of an `executor`. An unknown type is left to the schema. */
function typeWithSettings(target: Target): Fault | null {
  const { map, damaged } = target;
  const { type, with: config } = map;
  if (type === undefined) {
    delete map.with;
    if (config === undefined || damaged.has(map)) return null;
    const message = '"with" holds the settings of a "type", which is missing';
    return { key: 'with', message, code: 'missing-key', help: 'For example: type: http, with: {...}' };
  }
  const executor = typeof type === 'string' ? executorOfType(type) : undefined;
  if (executor === undefined) return null;
  delete map.type;
  delete map.with;
  if (map.executor !== undefined) return { key: 'type', message: '"type" and "executor" are the same key' };
  if (executor === null) {
    // `call` or `run` makes the type redundant.
    const what = `a step of the type "${String(type)}"`;
    if (config !== undefined) return { key: 'with', message: `${what} has no settings: write "call" and "params"` };
    if (map.run !== undefined || damaged.has(map)) return null;
    return { key: 'type', message: `${what} needs "call", the workflow to run`, code: 'missing-key' };
  }
  const isContainer = map.container !== undefined && (executor === 'docker' || executor === 'command');
  if (isContainer && config === undefined) return null;
  if (config !== undefined) spell(target, ['executor', 'config'], 'with');
  const value = { type: executor, ...(config === undefined ? {} : { config }) };
  return put(target, 'executor', value, 'type');
}

/** `provider: env, key: NAME` is `env: NAME`. An unknown provider is left to the schema. */
function providedKey(target: Target): Fault | null {
  const { map } = target;
  const { provider, key } = map;
  if (provider === undefined && key === undefined) return null;
  if (provider !== undefined && provider !== 'env' && provider !== 'file') return null;
  delete map.provider;
  delete map.key;
  if (provider === undefined)
    return { key: 'key', message: '"key" needs "provider": env or file', code: 'missing-key' };
  if (key === undefined) return { key: 'provider', message: '"provider" needs "key"', code: 'missing-key' };
  const other = ['env', 'file'].find((name) => map[name] !== undefined);
  if (other !== undefined) return { key: 'provider', message: `"provider" and "${other}" exclude each other` };
  return put(target, provider, key, 'key');
}

function put(target: Target, key: string, value: Json, written: string): null {
  target.map[key] = value;
  spell(target, [key], written);
  return null;
}

/** Messages name the key as the file has it. */
function spell({ path, spellings }: Target, made: Path, written: string): void {
  const spelling = spellings.get(pathMark([...path, written])) ?? written;
  spellings.set(pathMark([...path, ...made]), spelling);
}

/** Reports what cannot be changed. The map then lacks a value. */
function report(target: Target, change: (target: Target) => Fault | null): void {
  const fault = change(target);
  if (fault === null) return;
  const { source, map, path, problems, damaged } = target;
  damaged.add(map);
  const spot = { source, path: [...path, fault.key], part: 'key' as const };
  problems.push(problem(fault.code ?? 'conflicting-keys', spot, fault.message, { help: fault.help ?? null }));
}

/** The executors whose commands are programs. */
const PROGRAMS = new Set(['command', 'docker', 'ssh']);
const LIST_HELP =
  'Write the lines of a "script"; write "exec" for one command of several words, or for a program with spaces in its path.';

/**
 * Warns about keys of Dagu 2 that mean something else here. Most of them are also keys of Blackdagger and Dagu 1, with
 * the meaning they have here: they are reported only in a file that other keys show to be one of Dagu 2.
 */
function differences(source: Source, top: JsonObject, written: ReadonlyMap<string, string>): Problem[] {
  const actions = actionsIn(top);
  const isDagu2 =
    top.labels !== undefined ||
    actions.some(([path, { call, type, with: settings }]) => {
      return typeof call === 'string' || type !== undefined || settings !== undefined || isExec(path, written);
    });
  const lists = actions.filter(([path, { command }]) => isTexts(command) && !isExec(path, written));
  const found = lists.flatMap(([path, map]) => listCommand(source, [...path, 'command'], map, isDagu2));
  if (!isDagu2 || top.delaySec === undefined) return found;
  const delay = '"delaySec" is the time between the starts of two steps; in Dagu 2 it is the time before the first';
  return [...found, differs(source, ['delaySec'], delay, 'Write a first step with "command: sleep N".')];
}

/** Whether the command of a step was written as `exec`. */
function isExec(path: Path, spellings: ReadonlyMap<string, string>): boolean {
  if (spellings.size === 0) return false;
  return canonicalKey(spellings.get(pathMark([...path, 'command'])) ?? '') === 'exec';
}

/** Reads a list of several commands as one text for the shell, and reports one that may be something else than it looks. */
function listCommand(source: Source, path: Path, map: JsonMap, isDagu2: boolean): Problem[] {
  const command = map.command as readonly string[];
  const kind = startsPrograms(map) ? listKind(command, isDagu2) : 'words';
  if (kind === 'commands' && map.script === undefined && map.args === undefined) {
    map.command = oneAfterAnother(command);
    return [];
  }
  if (kind !== 'words') {
    const message = `a list is the words of one command, and "${command[0]}" is not the name of a program`;
    return [problem('wrong-value', { source, path, part: 'value' }, message, { help: LIST_HELP })];
  }
  const message = 'a list is the words of one command; in Dagu 2 it is several commands';
  return isDagu2 ? [differs(source, path, message, LIST_HELP)] : [];
}

function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((text) => typeof text === 'string');
}

/** Whether the command of a step is a program; that of an `http` or `jq` step is not. */
function startsPrograms({ type, executor }: JsonObject): boolean {
  const name = type ?? (isJsonObject(executor) ? executor.type : executor) ?? 'command';
  return typeof name === 'string' && PROGRAMS.has(executorOfType(name) ?? '');
}

function differs(source: Source, path: Path, message: string, help: string): Problem {
  const options = { severity: 'warning', label: 'differs from Dagu 2', help } as const;
  return problem('differs-from-dagu', { source, path, part: 'key' }, message, options);
}
