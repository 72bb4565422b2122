import type { Document } from 'yaml';
import type { Json } from '../../core/workflow.ts';
import type { DiagnosticCode } from '../codes.ts';
import type { Source } from '../diagnostic.ts';
import type { Path, Problem, Spot } from '../problem.ts';
import { problem } from '../problem.ts';
import type { RawStep, RawWorkflow } from '../raw.ts';
import { isJsonObject } from '../raw.ts';
import { workflowSchema } from '../schema/schema.ts';
import { canonicalKey } from './canonical-key.ts';
import { parse } from './parse.ts';
import { read } from './read.ts';
import { validate } from './validate.ts';

/** One file of a workflow: the root, an import or the base. */
export type SpecFile = {
  readonly source: Source;
  /** What the text was parsed to, for positions; null when it could not be. Not kept after loading: it is large. */
  readonly document: Document.Parsed | null;
  readonly raw: RawWorkflow;
  /** False when the text could not be read as a map: then nothing more is said about what it lacks. */
  readonly isReadable: boolean;
  /** Maps that lack something because it was wrong and already reported. */
  readonly damaged: ReadonlySet<unknown>;
  /** Keys of the top whose value was wrong and already reported. */
  readonly lost: ReadonlySet<string>;
};

/** A step where it stands: `path` leads to it in its file. */
export type StepEntry = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly raw: RawStep;
  readonly name: string | null;
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

/** Problems after which parts of a file are simply not there. */
const STRUCTURAL: ReadonlySet<DiagnosticCode> = new Set([
  'unknown-anchor',
  'alias-limit',
  'nesting-too-deep',
  'complex-key',
  'forbidden-key',
]);

/** Text to a file whose keys and types are right, as far as it is. The problems are all that can be said of it alone. */
export function readSpecFile(source: Source): { file: SpecFile; problems: readonly Problem[] } {
  const parsed = parse(source);
  const { document } = parsed;
  const empty: SpecFile = { source, document, raw: {}, isReadable: false, damaged: new Set(), lost: new Set() };
  if (parsed.problems.length > 0) return { file: empty, problems: parsed.problems };
  if (document === null || document.contents === null) {
    return { file: empty, problems: [emptyFile(source)] };
  }
  const result = read(source, document, workflowSchema);
  if (!isJsonObject(result.value))
    return { file: empty, problems: [...result.problems, notAMap(source, result.value)] };
  const setting = settingOf(result.problems, result.value);
  if (setting !== null) return { file: empty, problems: [setting] };
  const { raw, damaged, lost, problems } = validate(source, result.value, result.spellings);
  const isReadable = !result.problems.some((found) => STRUCTURAL.has(found.code));
  const file = { source, document, raw, isReadable, damaged: new Set([...result.damaged, ...damaged]), lost };
  return { file, problems: [...result.problems, ...problems] };
}

/** Whether all steps of a file are known by name, so that what refers to another name can be called wrong. */
export function isComplete(file: SpecFile): boolean {
  const steps = Object.values(file.raw.steps ?? []);
  const isNamed = stepEntries(file).every((entry) => entry.name !== null);
  const hasLists = !file.lost.has('steps') && !file.lost.has('imports');
  const mayLackSteps = file.raw.steps === undefined && file.damaged.has(file.raw);
  return file.isReadable && hasLists && !mayLackSteps && isNamed && !steps.includes(null);
}

const entriesOfFiles = new WeakMap<SpecFile, readonly StepEntry[]>();

/** The steps of a file in their order. An entry that is no step was reported and is left out. */
export function stepEntries(file: SpecFile): readonly StepEntry[] {
  const kept = entriesOfFiles.get(file) ?? findEntries(file);
  entriesOfFiles.set(file, kept);
  return kept;
}

function findEntries(file: SpecFile): StepEntry[] {
  const steps = file.raw.steps ?? [];
  const isList = Array.isArray(steps);
  return Object.entries(steps).flatMap(([key, raw]: [string, RawStep | null]) => {
    if (raw === null) return [];
    const path = ['steps', isList ? Number(key) : key];
    return [{ file, path, raw, name: raw.name ?? raw.id ?? (isList ? null : key) }];
  });
}

/** The spot of a value, or of its key, in a file. */
export function spotIn(file: SpecFile, path: Path, part: 'key' | 'value' = 'value'): Spot {
  return { source: file.source, path, part };
}

function emptyFile(source: Source): Problem {
  return problem('empty-file', { source }, 'the file is empty', { help: 'Give it at least one step under "steps".' });
}

function notAMap(source: Source, value: Json): Problem {
  if (value === null) return emptyFile(source);
  const kind = Array.isArray(value) ? 'a list' : 'text';
  const help = 'A workflow begins with keys such as "steps:".';
  return problem('not-a-workflow', { source }, `the file is ${kind}, not a workflow`, { help });
}

/** A problem for a file that sets up the program; its unknown keys are then not worth a word each. */
function settingOf(problems: readonly Problem[], value: Json): Problem | null {
  if (!isJsonObject(value) || value.steps !== undefined || value.imports !== undefined) return null;
  for (const found of problems) {
    const key = found.code === 'unknown-key' ? (/^unknown key "([^"]*)"$/.exec(found.message)?.[1] ?? '') : '';
    if (!SETTINGS.has(canonicalKey(key))) continue;
    const message = `this is a configuration file, not a workflow: "${key}" is a setting, and there are no steps`;
    return problem('config-file', found.spot, message, {
      label: 'a setting',
      help: 'Settings belong into "config.yaml" in the configuration directory; a workflow has "steps".',
    });
  }
  return null;
}
