import { isItemVariable } from '#core/fan-out/items.ts';
import { runVariableNames } from '#core/run-variables.ts';
import { isSystemVariable } from '#core/words/shell-words.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type RawItems, rawFanOut, runNumberTextsOf } from '../build/build-policies.ts';
import { inputName, inputsOf } from '../build/build-step.ts';
import { parameterNames } from '../build/functions.ts';
import { evaluatedTexts, isDeclaration } from '../declared-params.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { paramNames } from '../params.ts';
import {
  assignments,
  entriesAt,
  envNames,
  isJsonObject,
  type OpenTextMap,
  type RawWorkflow,
  secretNames,
  variableName,
} from '../raw.ts';
import { actionEntries, defaultsEntries, type SpecFile, stepEntries } from '../read/spec-file.ts';
import type { WorkflowFiles } from './check-workflow.ts';
import { at, conditionUses, entryUses, type LocatedUse, substitutedUses, textUses, workUses } from './variable-uses.ts';

const setByRuns = new Set(runVariableNames);

/** Dagu's variables that `wf` does not set, and their equivalents. */
const equivalents = new Map([
  ['WORKFLOW_ID', 'WF_RUN_ID'],
  ['WORKFLOW_NAME', 'WF_WORKFLOW'],
  ['WORKFLOW_STEP_NAME', 'WF_STEP'],
  ['DAG_STEP_LOG_PATH', 'WF_LOG_FILE'],
]);

/** Reports variables that are set nowhere. `environment`: the names of the process's environment. */
export function unsetProblems(files: WorkflowFiles, environment: readonly string[]): Problem[] {
  const { root, base, hasAllImports } = files;
  const settings = base === null ? [root] : [base, root];
  const all = base === null ? files.files : [...files.files, base];
  const isRead = ({ isReadable, damaged, lost }: SpecFile) => isReadable && damaged.size === 0 && lost.size === 0;
  if (!hasAllImports || !all.every(isRead)) return [];
  // A dotenv file may set every name; it is read when a run starts.
  if (settings.some(({ raw }) => raw.dotenv !== undefined)) return [];
  const shell = root.raw.shell ?? base?.raw.shell ?? 'sh';
  const isInside = settings.some(({ raw }) => raw.container !== undefined);
  const given = settings.flatMap(({ raw }) => [...paramNames([{ raw }]), ...envNames([raw.env]), ...secretNames(raw)]);
  const defaults = envNames(settings.map(({ raw }) => raw.defaults?.env));
  const declared = [...given, ...defaults, ...outputNames(all)];
  const results = files.files.flatMap(stepEntries).flatMap(({ raw, name }) => [raw.id, name ?? undefined]);
  const set = new Set([...environment, ...declared, ...results.filter((id) => id !== undefined)]);
  const stepEnv = new Set(envNames(all.flatMap(actionEntries).map(({ raw }) => raw.env)));
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
      const own = new Set(envNames([raw.env]));
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
      const scope = { file, path: ['functions', index], what: `function "${raw.name ?? ''}"` };
      const isSetHere = isIn(set, stepEnv, new Set(own));
      const isSet = (name: string) => isItemVariable(name) || isSetHere(name);
      return unset(workUses(raw, shell), { ...scope, declared: () => [...own, ...declared], isSet });
    }),
  ]);
  return [...ofSettings, ...ofActions];
}

type Scope = {
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
function unset(uses: readonly LocatedUse[], { file, path, what, declared, meant, isSet }: Scope): Problem[] {
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
  const ofRuns = /^(?:WF|DAGU?|WORKFLOW)_/.test(name) ? runVariableNames : [];
  return didYouMean(nearNames(name, new Set([...declared, ...ofRuns])));
}

/** Whether a shell, `wf` in some step, handler or notification, or one of the sets has a variable. */
function isIn(...sets: readonly ReadonlySet<string>[]): (name: string) => boolean {
  return (name) =>
    [setByRuns, ...sets].some((set) => set.has(name)) || isSystemVariable(name) || name.startsWith('WF_OUTPUT_FILE_');
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

/** The variables that texts and numbers of a workflow use outside of its steps, by their key. */
function settingUses(raw: RawWorkflow, shell: string): readonly (readonly [key: string, readonly LocatedUse[]])[] {
  return [
    ['params', paramUses(raw.params)],
    ['env', assignments(raw.env).flatMap(({ value, path }) => at(['env', ...path], substitutedUses(value)))],
    ['preconditions', conditionUses(raw, shell)],
    ['locks', textUses(raw.locks, ['locks'])],
    ['workerSelector', textUses(raw.workerSelector, ['workerSelector'])],
    ['notify', textUses(raw.notify, ['notify'])],
    ['container', textUses(raw.container, ['container'])],
    ...(runNumberTextsOf(raw).numbers ?? []).map(({ key, text }) => [key, textUses(text, [key])] as const),
  ];
}

function paramUses(params: RawWorkflow['params']): LocatedUse[] {
  return entriesAt<string | OpenTextMap>(params, ['params']).flatMap(({ path, entry }) => {
    if (typeof entry === 'string') return at(path, substitutedUses(entry));
    const texts = isDeclaration(entry) ? evaluatedTexts(entry) : Object.entries(entry);
    return texts.flatMap(([name, value]) =>
      typeof value === 'string' ? at([...path, name], substitutedUses(value)) : [],
    );
  });
}

/** The variable of a fan-out that a name from another tool probably means (`item`, `matrix`, a field); else null. */
function itemReference(name: string, raw: RawItems): string | null {
  const fanOut = rawFanOut(raw);
  if (fanOut === null) return null;
  if (/^(?:items?|each|matrix)$/i.test(name)) return '$ITEM';
  const { items, matrix } = fanOut;
  const isField =
    (matrix !== undefined && Object.hasOwn(matrix, name)) ||
    (Array.isArray(items) && items.some((item) => isJsonObject(item) && Object.hasOwn(item, name)));
  return isField ? `\${ITEM.${name}}` : null;
}
