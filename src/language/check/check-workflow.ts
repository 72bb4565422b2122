import { didYouMean, nearNames } from '#system/near-names.ts';
import { callProblems, collectFunctions, type Functions } from '../build/functions.ts';
import { IGNORED, type Path, type Problem, problem } from '../diagnostic.ts';
import { namesForUnnamed } from '../forms/short-steps.ts';
import { entriesAt, envNames, executorOf, type RawSecret } from '../raw.ts';
import { actionEntries, isComplete, type SpecFile, type StepEntry, spotIn, stepEntries } from '../read/spec-file.ts';
import { fanOutProblems } from './check-fan-out.ts';
import { fileProblems } from './check-file.ts';
import { graphProblems } from './check-graph.ts';
import { latenessProblems } from './check-late.ts';
import { heldLockProblems } from './check-locks.ts';
import {
  declaredNames,
  limitProblems,
  orderProblems,
  outputProblems,
  queryProblems,
  resultProblems,
  variableProblems,
} from './check-references.ts';
import { nestedShellProblems, quoteProblems, scriptPathProblems } from './check-shell-texts.ts';
import { generatedTwiceProblems, placedProblems } from './check-step-files.ts';

/** The files of one workflow. `files` are in the order of their steps, the root last. */
export type WorkflowFiles = {
  /** False if an import could not be read. */
  readonly hasAllImports: boolean;
  readonly root: SpecFile;
  readonly base: SpecFile | null;
  readonly files: readonly SpecFile[];
};

/** Results of the checks that are needed for building. */
export type Checked = {
  readonly steps: readonly StepEntry[];
  readonly functions: Functions;
  readonly problems: readonly Problem[];
};

/** Keys of a base file that describe one workflow and therefore cannot apply to all. */
const NOT_FOR_A_BASE = new Set(['name', 'steps', 'imports', 'group']);

/** `isStrict`: the output of a step that is not a dependency is an error. */
export type CheckOptions = { readonly isStrict: boolean };

/** Checks the meaning of the files, each alone and all together. */
export function checkWorkflow({ root, base, files, hasAllImports }: WorkflowFiles, options: CheckOptions): Checked {
  const inherited = base?.raw.type === undefined ? {} : { type: base.raw.type };
  const steps = named(
    files.flatMap((file) =>
      file === root ? stepEntries(file).map((entry) => ({ ...entry, ...inherited })) : stepEntries(file),
    ),
  );
  const isKnown = hasAllImports && files.every(isComplete);
  const settings = base === null ? [root] : [base, root];
  const all = base === null ? files : [...files, base];
  const hasAllFunctions = hasAllImports && all.every((file) => file.isReadable && !file.lost.has('functions'));
  const { functions, problems } = collectFunctions(all);
  return {
    steps,
    functions,
    problems: [
      ...problems,
      ...all.flatMap(fileProblems),
      ...all.flatMap((file) => actionEntries(file).flatMap((entry) => callProblems(entry, functions, hasAllFunctions))),
      ...graphProblems(steps, isKnown),
      ...(isKnown ? [...orderProblems(settings, steps), ...outputProblems(settings, steps, options)] : []),
      ...settings.flatMap(limitProblems),
      ...fanOutProblems(steps),
      ...variableProblems(settings),
      ...all.flatMap(actionEntries).flatMap(scriptPathProblems),
      ...resultProblems(all, steps, isKnown),
      ...placedProblems(all, steps, isKnown),
      ...(isKnown && steps.length === 0 ? [noSteps(root)] : []),
      ...(base === null ? [] : ignoredInBase(base)),
      ...heldLockProblems(settings, all),
      ...generatedTwiceProblems(steps),
      ...latenessProblems(settings),
      ...serverProblems(settings),
      ...mailProblems(settings, all),
      ...secretProblems(settings, steps),
      ...queryProblems(settings, all),
      ...quoteProblems(settings, all),
      ...nestedShellProblems(settings, all),
    ],
  };
}

/** The steps; those without a name get one. */
function named(entries: readonly StepEntry[]): readonly StepEntry[] {
  const unnamed = entries.filter(({ name }) => name === null).map(({ raw }) => raw);
  if (unnamed.length === 0) return entries;
  const taken = entries.flatMap(({ name, raw }) => [name ?? [], raw.id ?? []].flat());
  const made = namesForUnnamed(unnamed, taken).values();
  return entries.map((entry) =>
    entry.name === null ? { ...entry, name: made.next().value ?? '', isUnnamed: true } : entry,
  );
}

function noSteps(root: SpecFile): Problem {
  const help = 'Add at least one step under "steps".';
  return problem('no-steps', spotIn(root, ['steps'], 'key'), 'the workflow has no steps', { help });
}

function ignoredInBase(base: SpecFile): Problem[] {
  return Object.keys(base.raw).flatMap((key) => {
    if (!NOT_FOR_A_BASE.has(key)) return [];
    const message = `"${key}" in the base configuration is ignored`;
    return [problem('base-ignored-key', spotIn(base, [key], 'key'), message, IGNORED)];
  });
}

/** The server may come from the base and the password from the file; one of them must have a host. */
function serverProblems(settings: readonly SpecFile[]): Problem[] {
  const given = settings.filter((file) => file.raw.smtp !== undefined);
  const ports = given.flatMap(portProblems);
  const last = given.at(-1);
  if (last === undefined || given.some((file) => file.raw.smtp?.host !== undefined)) return ports;
  return [problem('missing-key', spotIn(last, ['smtp'], 'key'), '"smtp" needs "host"'), ...ports];
}

/** A variable in the port has its value only at the time of a mail. */
function portProblems(file: SpecFile): Problem[] {
  const text = file.raw.smtp?.port?.trim();
  if (text === undefined || text.includes('$')) return [];
  if (/^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65535) return [];
  const help = 'Mail servers use 25, 465 or 587.';
  const message = `"smtp.port" must be a port from 1 to 65535, not "${text}"`;
  return [problem('wrong-value', spotIn(file, ['smtp', 'port']), message, { help })];
}

/** A secret that matches no variable masks nothing: probably a typing error, and one that exposes a password. */
function secretProblems(settings: readonly SpecFile[], steps: readonly StepEntry[]): Problem[] {
  if (settings.every((file) => file.raw.secrets === undefined)) return [];
  const isUnknown = ({ raw, lost }: SpecFile) => raw.dotenv !== undefined || lost.has('env') || lost.has('params');
  if (settings.some(isUnknown)) return [];
  const defaults = envNames(settings.map(({ raw }) => raw.defaults?.env));
  const known = new Set([...declaredNames(settings, steps), ...defaults]);
  return settings.flatMap((file) => unknownSecrets(file, known));
}

function unknownSecrets(file: SpecFile, known: ReadonlySet<string>): Problem[] {
  return entriesAt<RawSecret>(file.raw.secrets, ['secrets']).flatMap(({ path, entry: secret }) => {
    const isElsewhere = typeof secret !== 'string' && (secret.env !== undefined || secret.file !== undefined);
    const name = typeof secret === 'string' ? secret : (secret.name ?? '');
    if (isElsewhere || known.has(name)) return [];
    const message = `the secret "${name}" is neither in "env" nor in "params"`;
    const label = () => didYouMean(nearNames(name, known));
    const help = 'A variable that is set elsewhere is masked too; to read a value, add "env" or "file".';
    return [problem('unknown-secret', spotIn(file, path), message, { severity: 'warning', label, help })];
  });
}

/** A key that requests a mail, and the settings used to send it; null for a step that is the mail itself. */
type Wish = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly through: 'errorMail' | 'infoMail' | 'waitMail' | null;
};

/** Warns about requested mails that cannot be sent, once for each missing key. Runs work without these mails. */
function mailProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const wishes = [...wishesOfRun(settings), ...files.flatMap(wishesOfSteps)];
  const firsts = new Map<string, Wish>();
  for (const wish of wishes) {
    const missing = missingFor(wish, settings);
    if (missing !== null && !firsts.has(missing)) firsts.set(missing, wish);
  }
  return [...firsts].map(([missing, { file, path }]) => {
    const message = `this mail cannot be sent: "${missing}" is missing`;
    const help = missing === 'smtp' ? 'Name the mail server: smtp: {host: smtp.example.com}.' : `Add "${missing}".`;
    return problem('unsent-mail', spotIn(file, path, 'key'), message, { severity: 'warning', help });
  });
}

/** Keys of the file take precedence over those of the base. */
function wishesOfRun(settings: readonly SpecFile[]): Wish[] {
  const wait = settings.some(({ raw }) => raw.waitMail !== undefined) ? 'waitMail' : 'infoMail';
  const throughs = { failure: 'errorMail', success: 'infoMail', cancel: 'errorMail', wait, late: 'errorMail' } as const;
  return (['failure', 'success', 'cancel', 'wait', 'late'] as const).flatMap((occasion) => {
    const file = settings.findLast(({ raw }) => raw.mailOn?.[occasion] !== undefined);
    if (!file?.raw.mailOn?.[occasion]) return [];
    return [{ file, path: ['mailOn', occasion], through: throughs[occasion] }];
  });
}

function wishesOfSteps(file: SpecFile): Wish[] {
  return actionEntries(file).flatMap(({ path, raw }): Wish[] => {
    const { mailOn, mailOnError } = raw;
    return [
      ...(executorOf(raw).type === 'mail' ? [{ file, path: [...path, 'executor'], through: null }] : []),
      ...(mailOn?.failure ? [{ file, path: [...path, 'mailOn', 'failure'], through: 'errorMail' as const }] : []),
      ...(mailOn?.success ? [{ file, path: [...path, 'mailOn', 'success'], through: 'infoMail' as const }] : []),
      ...(mailOnError ? [{ file, path: [...path, 'mailOnError'], through: 'errorMail' as const }] : []),
    ];
  });
}

/** The first missing key, in any file that could have it. Present but invalid keys were reported before. */
function missingFor({ through }: Wish, settings: readonly SpecFile[]): string | null {
  if (settings.some(({ damaged, raw }) => damaged.has(raw))) return null;
  if (settings.every(({ raw }) => raw.smtp === undefined)) return 'smtp';
  if (through === null) return null;
  const given = settings.flatMap(({ raw }) => raw[through] ?? []);
  if (given.length === 0) return through;
  if (settings.some(({ raw, damaged }) => damaged.has(raw[through]))) return null;
  const part = (['from', 'to'] as const).find((key) => given.every((mail) => (mail[key] ?? '').length === 0));
  return part === undefined ? null : `${through}.${part}`;
}
