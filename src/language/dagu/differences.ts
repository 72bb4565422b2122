import type { Json, JsonObject } from '#core/workflow.ts';
import type { Source } from '../diagnostic.ts';
import { type Path, type Problem, pathMark, problem } from '../problem.ts';
import { isJsonObject } from '../raw.ts';
import { canonicalKey } from '../read/canonical-key.ts';
import { executorOfType } from './step-types.ts';

/** The executors whose commands are programs. */
const PROGRAMS = new Set(['command', 'docker', 'ssh']);

type Step = { readonly path: Path; readonly map: JsonObject };
/** A file as read, with its steps and handlers. */
type DaguFile = {
  readonly source: Source;
  readonly top: JsonObject;
  readonly steps: readonly Step[];
  readonly handlers: readonly Step[];
  readonly spellings: ReadonlyMap<string, string>;
};

/**
 * Warns about keys of Dagu 2 that mean something else here. Most of them are also keys of Blackdagger and Dagu 1, with
 * the meaning they have here: they are reported only in a file that other keys show to be one of Dagu 2.
 */
export function differences(source: Source, top: JsonObject, spellings: ReadonlyMap<string, string>): Problem[] {
  const steps = stepsIn(top.steps, 'steps');
  const file = { source, top, steps, handlers: stepsIn(top.handlerOn, 'handlerOn'), spellings };
  const isDagu2 = isOfDagu2(file);
  const known = listCommands(file, isDagu2);
  return isDagu2 ? [...known, ...keysOfTheTop(file)] : known;
}

function stepsIn(value: Json | undefined, key: string): Step[] {
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([name, map]: [string, Json]) =>
    isJsonObject(map) ? [{ path: [key, isList ? Number(name) : name], map }] : [],
  );
}

function isOfDagu2({ top, steps, handlers, spellings }: DaguFile): boolean {
  if (top.labels !== undefined) return true;
  return [...steps, ...handlers].some(({ path, map }) => {
    const { call, type, with: settings } = map;
    return typeof call === 'string' || type !== undefined || settings !== undefined || isExec(path, spellings);
  });
}

/** Whether the command of a step was written as `exec`. */
export function isExec(path: Path, spellings: ReadonlyMap<string, string>): boolean {
  if (spellings.size === 0) return false;
  return canonicalKey(spellings.get(pathMark([...path, 'command'])) ?? '') === 'exec';
}

function keysOfTheTop({ source, top }: DaguFile): Problem[] {
  if (top.delaySec === undefined) return [];
  const delay = '"delaySec" is the time between the starts of two steps; in Dagu 2 it is the time before the first';
  return [differs({ source, path: ['delaySec'] }, delay, 'Write a first step with "command: sleep N".')];
}

function listCommands(file: DaguFile, isDagu2: boolean): Problem[] {
  return [...file.steps, ...file.handlers].flatMap(({ path, map }) => {
    const { command } = map;
    if (!Array.isArray(command) || isExec(path, file.spellings)) return [];
    const spot = { source: file.source, path: [...path, 'command'] };
    const help =
      'Write the lines of a "script"; write "exec" for one command of several words, or for a program with spaces in its path.';
    const [first] = command;
    if (typeof first === 'string' && startsPrograms(map) && isNoProgram(first, isDagu2)) {
      const message = `a list is the words of one command, and "${first}" is not the name of a program`;
      return [problem('wrong-value', { ...spot, part: 'value' }, message, { help })];
    }
    const message = 'a list is the words of one command; in Dagu 2 it is several commands';
    return isDagu2 ? [differs(spot, message, help)] : [];
  });
}

/** The value of a variable may contain spaces; in a file of Dagu 2 such a word is a command all the same. */
function isNoProgram(word: string, isDagu2: boolean): boolean {
  return /\s/.test(word.trim()) && (isDagu2 || !/[$`]/.test(word));
}

/** Whether the command of a step is a program; that of an `http` or `jq` step is not. */
function startsPrograms({ type, executor }: JsonObject): boolean {
  const name = type ?? (isJsonObject(executor) ? executor.type : executor) ?? 'command';
  return typeof name === 'string' && PROGRAMS.has(executorOfType(name) ?? '');
}

function differs(at: { readonly source: Source; readonly path: Path }, message: string, help: string): Problem {
  const options = { severity: 'warning', label: 'differs from Dagu 2', help } as const;
  return problem('differs-from-dagu', { ...at, part: 'key' }, message, options);
}
