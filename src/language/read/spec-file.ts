import type { Json, JsonObject } from '#core/workflow.ts';
import type { RawItems } from '../build/build-policies.ts';
import type { DiagnosticCode } from '../codes.ts';
import { type Path, type Problem, problem, type Source, type Spot } from '../diagnostic.ts';
import { isDagu3, readDagu3, readScopes } from '../forms/dagu-3.ts';
import { readShortSteps, withDeclaredParams } from '../forms/short-steps.ts';
import { asList, isJsonObject, type RawAction, type RawStep, type RawWorkflow } from '../raw.ts';
import { workflowSchema } from '../schema/schema.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { readDaguKeys } from './dagu-keys.ts';
import { type ParseResult, rangeOf, type YamlDocument } from './node.ts';
import { parse, parseDocuments, tooMany } from './parse.ts';
import { read } from './read.ts';
import { validate } from './validate.ts';

/** One file of a workflow: the root, an import or the base. */
export type SpecFile = {
  readonly source: Source;
  /** For positions; null if the text could not be parsed. Large, and not kept after loading. */
  readonly document: YamlDocument | null;
  readonly raw: RawWorkflow;
  /** False if the text could not be read as a map: then missing keys are not reported. */
  readonly isReadable: boolean;
  /** Maps that lack values which were invalid and already reported. */
  readonly damaged: ReadonlySet<unknown>;
  /** Keys of the top level whose values were invalid and already reported. */
  readonly lost: ReadonlySet<string>;
  /** Whether its keys show that it was written for Dagu 1.17 or later. */
  readonly isOfLaterDagu: boolean;
  /** Whether it is in the form of Dagu 2.15. */
  readonly isOfDagu3: boolean;
};

/** A step and its path in its file. */
export type StepEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly raw: RawStep;
  /** Null if the file has none. */
  readonly name: string | null;
  /** Whether `name` is not of the file: other steps cannot use it. */
  readonly isUnnamed?: true;
  /** The `type` of the base, which counts if the file has none. */
  readonly type?: 'graph' | 'chain';
};

/** Settings of the program that no workflow has: a file with one of them and without steps is a configuration file. */
const SETTINGS = new Set(
  [
    'logForwarding host port dags dagsDir remoteNodes navbarColor navbarTitle isBasicAuth basicAuthUsername',
    'basicAuthPassword isAuthToken authToken basePath apiBaseURL workDir executable tls auth ui paths headless',
    'maxConcurrentRuns latestStatusToday adminLogsDir suspendFlagsDir dataDir debug metrics logFormat',
  ]
    .join(' ')
    .split(' ')
    .map(canonicalKey),
);

/** Problems after which parts of a file are missing. */
const STRUCTURAL: ReadonlySet<DiagnosticCode> = new Set([
  'unknown-anchor',
  'alias-limit',
  'nesting-too-deep',
  'complex-key',
  'forbidden-key',
]);

type SpecFileRead = { readonly file: SpecFile; readonly problems: readonly Problem[] };

/** Reads a text, as far as possible, and reports all problems of the file itself. */
export function readSpecFile(source: Source): SpecFileRead {
  const parsed = parse(source);
  const { document } = parsed;
  const form = document !== null && isDagu3(source.text, [document]) ? readDagu3(source, document) : null;
  const read = readParsed(source, parsed, form);
  const [loop] = form?.documents ?? [];
  if (loop === undefined) return read;
  const message = '"foreach" is not supported in an imported file, or in base.yaml';
  const help = 'Write its steps into a workflow of their own, and "run" with "parallel".';
  const problems = [
    ...read.problems,
    problem('not-supported', { source, range: rangeOf(loop.contents) }, message, { help }),
  ];
  return { ...read, problems };
}

/** Maximum number of workflows in a file. */
const MOST_DOCUMENTS = 20;

/** Reads the documents of a text, at least one. */
export function readSpecFiles(source: Source): readonly SpecFileRead[] {
  const parsed = parseDocuments(source, MOST_DOCUMENTS + 1);
  const surplus = parsed[MOST_DOCUMENTS]?.document ?? null;
  const used = surplus === null ? parsed : [...parsed.slice(0, -1), tooMany(source, surplus, MOST_DOCUMENTS)];
  const documents = used.length === 0 ? [{ document: null, problems: [] as const }] : used;
  const isOfDagu3 = isDagu3(
    source.text,
    documents.map(({ document }) => document),
  );
  if (!isOfDagu3) return documents.map((document) => readParsed(source, document, null));
  const forms = documents.map(({ document }, index) => {
    return document === null ? null : readDagu3(source, document, index === 0 ? '' : null);
  });
  const loops = forms.flatMap((form) => form?.documents ?? []);
  return [
    ...documents.map((document, index) => readParsed(source, document, forms[index] ?? null)),
    ...loops.map((document) => readParsed(source, { document, problems: [] }, { document, problems: [] })),
  ];
}

type Form = { readonly document: YamlDocument; readonly problems: readonly Problem[] };

/** Reads a document; `form`: what it is in the form of wf, if it is in another one. */
function readParsed(source: Source, parsed: ParseResult, form: Form | null): SpecFileRead {
  const { document: written } = parsed;
  const isOfDagu3 = form !== null;
  const scoped = form?.document ?? (written === null ? null : readScopes(source, written));
  const document = scoped === null ? null : withDeclaredParams(scoped);
  const unread = (problems: readonly Problem[]) => ({ file: unreadFile(source, document), problems });
  if (parsed.problems.length > 0) return unread(parsed.problems);
  if (document === null || document.contents === null) return unread([emptyFile(source)]);
  const result = read(source, document, workflowSchema);
  // The keys on the lines around it are in the wrong maps.
  const misread = result.problems.find(({ code }) => code === 'yaml-syntax');
  if (misread !== undefined) return unread([misread]);
  if (!isJsonObject(result.value)) return unread([...result.problems, notAMap(source, result.value)]);
  const setting = settingOf(result.problems, result.value);
  if (setting !== null) return unread([setting]);
  readShortSteps(result.value);
  const dagu = readDaguKeys(source, result.value, result.spellings, isOfDagu3);
  const { raw, lost, ...validated } = validate(source, result.value, dagu.spellings);
  const isReadable = !result.problems.some((found) => STRUCTURAL.has(found.code));
  const damaged = new Set([...result.damaged, ...dagu.damaged, ...validated.damaged]);
  const file = {
    ...{ source, document, raw, isReadable, damaged, lost, isOfDagu3 },
    isOfLaterDagu: dagu.isOfLaterDagu && !isOfDagu3,
  };
  return { file, problems: [...(form?.problems ?? []), ...result.problems, ...dagu.problems, ...validated.problems] };
}

/** A file of which nothing could be read. */
export function unreadFile(source: Source, document: YamlDocument | null = null): SpecFile {
  const nothing = { raw: {}, isReadable: false, damaged: new Set(), lost: new Set<string>() };
  return { source, document, ...nothing, isOfLaterDagu: false, isOfDagu3: false };
}

/** Whether the names of all steps of a file are known, so that references to other names can be reported. */
export function isComplete(file: SpecFile): boolean {
  const steps = Object.values(file.raw.steps ?? []);
  // A name that is missing in a damaged step may be one that was invalid.
  const isNamed = stepEntries(file).every(({ name, raw }) => name !== null || !file.damaged.has(raw));
  const hasLists = !file.lost.has('steps') && !file.lost.has('imports');
  const mayLackSteps = file.raw.steps === undefined && file.damaged.has(file.raw);
  return file.isReadable && hasLists && !mayLackSteps && isNamed && !steps.includes(null);
}

const entriesOfFiles = new WeakMap<SpecFile, readonly StepEntry[]>();

/** The steps of a file in order. Entries that are not steps were reported and are left out. */
export function stepEntries(file: SpecFile): readonly StepEntry[] {
  const kept = entriesOfFiles.get(file);
  if (kept !== undefined) return kept;
  const steps = file.raw.steps ?? [];
  const isList = Array.isArray(steps);
  const entries = Object.entries(steps).flatMap(([key, raw]: [string, RawStep | null]) => {
    if (raw === null) return [];
    const path = ['steps', isList ? Number(key) : key];
    return [{ file, path, raw, name: raw.name ?? raw.id ?? (isList ? null : key) }];
  });
  entriesOfFiles.set(file, entries);
  return entries;
}

/** The spot of a value, or of its key, in a file. */
export function spotIn(file: SpecFile, path: Path, part: 'key' | 'value' = 'value'): Spot {
  return { source: file.source, path, part };
}

function emptyFile(source: Source): Problem {
  return problem('empty-file', { source }, 'the file is empty', { help: 'Add at least one step under "steps".' });
}

function notAMap(source: Source, value: Json): Problem {
  if (value === null) return emptyFile(source);
  const kind = Array.isArray(value) ? 'a list' : 'text';
  const help = 'A workflow has keys such as "steps:".';
  return problem('not-a-workflow', { source }, `the file is ${kind}, not a workflow`, { help });
}

/** Reports a configuration file as a whole, instead of each of its unknown keys. */
function settingOf(problems: readonly Problem[], value: JsonObject): Problem | null {
  if (value.steps !== undefined || value.imports !== undefined) return null;
  for (const found of problems) {
    const key = found.code === 'unknown-key' ? (/^unknown key "([^"]*)"$/.exec(found.message)?.[1] ?? '') : '';
    if (!SETTINGS.has(canonicalKey(key))) continue;
    const message = `this is a configuration file, not a workflow: "${key}" is a setting, and there are no steps`;
    return problem('config-file', found.spot, message, {
      label: 'a setting',
      help: 'Settings belong in "config.yaml" in the configuration directory; a workflow has "steps".',
    });
  }
  return null;
}

/** A step or handler and its path; `what` names it in messages (`step "load"`). */
export type ActionEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly raw: RawAction & RawItems;
  readonly what: string;
  /** Whether one of its texts has a `$`: without one it uses no variables. */
  readonly hasDollar: boolean;
};

/** `defaults`, which are checked like the keys of a step; none without them. */
export function defaultsEntries(file: SpecFile): ActionEntry[] {
  const { defaults } = file.raw;
  if (defaults === undefined) return [];
  return [{ file, path: ['defaults'], raw: defaults, what: '"defaults"', hasDollar: hasDollar(defaults) }];
}

const actionsOfFiles = new WeakMap<SpecFile, readonly ActionEntry[]>();

/** The steps and handlers of a file, with their names for messages. */
export function actionEntries(file: SpecFile): readonly ActionEntry[] {
  const kept = actionsOfFiles.get(file);
  if (kept !== undefined) return kept;
  const steps = stepEntries(file).map(({ path, raw, name }): ActionEntry => {
    const what = name === null ? `step ${Number(path[1]) + 1}` : `step "${name}"`;
    return { file, path, raw, what, hasDollar: hasDollar(raw) };
  });
  const handlers = Object.entries(file.raw.handlerOn ?? {}).map(([kind, raw]): ActionEntry => {
    return { file, path: ['handlerOn', kind], raw, what: `handler "${kind}"`, hasDollar: hasDollar(raw) };
  });
  const entries = [...steps, ...handlers];
  actionsOfFiles.set(file, entries);
  return entries;
}

function hasDollar(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('$');
  return typeof value === 'object' && value !== null && Object.values(value).some(hasDollar);
}

/** The entries that do not ignore a warning about several; if fewer than `least`, all, so that it is ignored. */
export function withoutIgnoring<T extends { readonly raw: RawAction }>(
  entries: readonly T[],
  code: DiagnosticCode,
  least: number,
): readonly T[] {
  const ignores = ({ raw }: T) => asList(raw['x-ignore']).includes(code);
  const left = entries.filter((entry) => !ignores(entry));
  return left.length >= least ? left : [...entries.filter(ignores), ...left];
}
