import { isItemVariable } from '#core/fan-out/items.ts';
import { runVariableNames } from '#core/run-variables.ts';
import { isSystemVariable } from '#core/words/shell-words.ts';
import { inputName, inputsOf } from '../../build/approval.ts';
import { assignments, variableName } from '../../build/assignments.ts';
import { rawFanOut } from '../../build/fan-out.ts';
import { parameterNames } from '../../build/functions.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import { parseParamDefaults } from '../../params.ts';
import type { Path, Problem } from '../../problem.ts';
import { problem } from '../../problem.ts';
import { asList } from '../../raw.ts';
import { type SpecFile, stepEntries } from '../../read/spec-file.ts';
import type { WorkflowFiles } from '../check-workflow.ts';
import { actionEntries, defaultsEntries } from '../step/action-entries.ts';
import type { LocatedUse } from './entry-uses.ts';
import { entryUses, workUses } from './entry-uses.ts';
import { itemReference } from './item-names.ts';
import { settingUses } from './setting-uses.ts';

const setByRuns = new Set(runVariableNames);

/** Dagu's variables that `wf` does not set, and their equivalents. */
const equivalents = new Map([
  ['WORKFLOW_ID', 'WF_RUN_ID'],
  ['WORKFLOW_NAME', 'WF_WORKFLOW'],
  ['WORKFLOW_STEP_NAME', 'WF_STEP'],
  ['DAG_STEP_LOG_PATH', 'WF_LOG_FILE'],
]);

/**
 * Reports variables that the workflow, its steps, handlers and functions use and that are set nowhere. `environment`: the names
 * of the process's environment. Files that could not be read completely are not checked.
 */
export function unsetProblems(files: WorkflowFiles, environment: readonly string[]): Problem[] {
  const { root, base, hasAllImports } = files;
  const settings = base === null ? [root] : [base, root];
  const all = base === null ? files.files : [...files.files, base];
  if (!hasAllImports || all.some(isIncomplete)) return [];
  // A dotenv file may set every name; it is read when a run starts.
  if (settings.some(({ raw }) => raw.dotenv !== undefined)) return [];
  const shell = root.raw.shell ?? base?.raw.shell ?? 'sh';
  const isInside = settings.some(({ raw }) => raw.container !== undefined);
  const given = settingNames(settings);
  const defaults = settings.flatMap(({ raw }) => assignments(raw.defaults?.env).map(({ name }) => name));
  const declared = [...given, ...defaults, ...outputNames(all)];
  const results = files.files.flatMap(stepEntries).flatMap(({ raw, name }) => [raw.id, name ?? undefined]);
  const set = new Set([...environment, ...declared, ...results.filter((id) => id !== undefined)]);
  const stepEnv = new Set(
    all.flatMap(actionEntries).flatMap(({ raw }) => assignments(raw.env).map(({ name }) => name)),
  );
  const isGiven = isIn(new Set([...environment, ...given]));
  const ofSettings = settings.flatMap((file) =>
    settingUses(file.raw, shell).flatMap(([key, uses]) =>
      unset(uses, {
        file,
        path: [],
        what: `"${key}"`,
        // Notifications are sent after the steps.
        ...(key === 'notify'
          ? { declared: () => declared, isSet: isIn(set) }
          : { declared: () => given, isSet: isGiven }),
      }),
    ),
  );
  const ofActions = all.flatMap((file) => [
    ...[...actionEntries(file), ...defaultsEntries(file)].flatMap(({ path, raw, what, hasDollar }) => {
      if (!hasDollar) return [];
      const own = new Set(assignments(raw.env).map(({ name }) => name));
      const isSetHere = isIn(set, own);
      const isFanOut = rawFanOut(raw) !== null;
      return unset(entryUses(raw, isInside ? null : shell), {
        file,
        path,
        what,
        declared: () => [...declared, ...own],
        meant: (name) => itemReference(name, raw),
        isSet: (name) => (isFanOut && isItemVariable(name)) || isSetHere(name),
      });
    }),
    ...(file.raw.functions ?? []).flatMap((raw, index) => {
      const own = parameterNames(raw.params);
      const place = { file, path: ['functions', index], what: `function "${raw.name ?? ''}"` };
      const isSetHere = isIn(set, stepEnv, new Set(own));
      const isSet = (name: string) => isItemVariable(name) || isSetHere(name);
      return unset(workUses(raw, shell), { ...place, declared: () => [...own, ...declared], isSet });
    }),
  ]);
  return [...ofSettings, ...ofActions];
}

type Place = {
  readonly file: SpecFile;
  readonly path: Path;
  readonly what: string;
  /** Names to suggest. */
  readonly declared: () => readonly string[];
  /** What a name that is not set means in a fan-out; null for others. */
  readonly meant?: (name: string) => string | null;
  readonly isSet: (name: string) => boolean;
};

/** One warning per name. */
function unset(uses: readonly LocatedUse[], { file, path, what, declared, meant, isSet }: Place): Problem[] {
  const seen = new Set<string>();
  return uses.flatMap(({ name, at, path: way }) => {
    if (seen.has(name) || isSet(name)) return [];
    seen.add(name);
    const word = { at, text: name };
    const spot = { source: file.source, path: [...path, ...way], part: 'value', word } as const;
    const item = meant?.(name) ?? null;
    const label = () => (item === null ? labelFor(name, declared()) : `use "${item}"`);
    const help =
      item === null
        ? `Declare it under "params" or "env"; write "\${${name}:-}" where it may be missing.`
        : 'An item of "parallel" or "matrix" is in $ITEM, a field of a map in ${ITEM.field}.';
    return [problem('unset-variable', spot, `${what}: nothing sets "$${name}"`, { severity: 'warning', label, help })];
  });
}

/** What to write instead: the equivalent in `wf` of a variable of Dagu, or a similar name. */
function labelFor(name: string, declared: readonly string[]): string {
  const equivalent = equivalents.get(name);
  if (equivalent !== undefined) return `use "$${equivalent}"`;
  return didYouMean(nearNames(name, new Set([...declared, ...(mayBeRunVariable(name) ? runVariableNames : [])])));
}

function isIn(...sets: readonly ReadonlySet<string>[]): (name: string) => boolean {
  return (name) => isSystemVariable(name) || isRunVariable(name) || sets.some((set) => set.has(name));
}

function isIncomplete({ isReadable, damaged, lost }: SpecFile): boolean {
  return !isReadable || damaged.size > 0 || lost.size > 0;
}

/** Parameters, `env` and secrets of the workflow. */
function settingNames(settings: readonly SpecFile[]): readonly string[] {
  const names = settings.flatMap(({ raw: { params, env, secrets } }) => [
    ...parseParamDefaults(params).map(({ name }) => name),
    ...assignments(env).map(({ name }) => name),
    ...asList(secrets).map((secret) => (typeof secret === 'string' ? secret : secret.name)),
  ]);
  return names.filter((name) => typeof name === 'string');
}

/** The outputs of steps and handlers. */
function outputNames(all: readonly SpecFile[]): readonly string[] {
  const names = all
    .flatMap(actionEntries)
    .flatMap(({ raw }) => [
      typeof raw.output === 'string' ? variableName(raw.output) : null,
      ...inputsOf(raw.approval).map(inputName),
    ]);
  return names.filter((name) => name !== null);
}

/** Whether `wf` sets a variable, in some step, handler or notification. */
function isRunVariable(name: string): boolean {
  return setByRuns.has(name) || name.startsWith('WF_OUTPUT_FILE_');
}

/** Whether a name looks like one of a variable of the run. */
function mayBeRunVariable(name: string): boolean {
  return /^(?:WF|DAGU?|WORKFLOW)_/.test(name);
}
