import { PATH } from '#core/words/json-path.ts';
import { rawFanOut } from '../build/build-policies.ts';
import { keepsArtifacts } from '../build/build-step.ts';
import type { DiagnosticCode } from '../codes.ts';
import { type Path, type Problem, problem, type Spot } from '../diagnostic.ts';
import { paramNames, parseParamDefaults } from '../params.ts';
import { asList, assignments, envNames, executorOf, outputName, type RawStep, textsIn, variableName } from '../raw.ts';
import {
  type ActionEntry,
  actionEntries,
  type SpecFile,
  type StepEntry,
  spotIn,
  withoutIgnoring,
} from '../read/spec-file.ts';
import { cyclesOf, dependenciesOf, type Edge, nameSpot } from './check-graph.ts';
import { entryUses } from './variable-uses.ts';

/** A reference to the result of a step. */
const REFERENCE =
  /(?<!\\)\$\{([A-Za-z_][\w-]*)\.(?:stdout|stderr|exitCode|exit_code|status|artifacts|outputs?)(?![\w-])[^}:]*(?::-[^}]*)?\}/g;
/** A path with an offset and a length, as newer programs of this family have it. */
const SLICE = new RegExp(String.raw`(?<!\\)\$\{[A-Za-z_]\w*${PATH}:(?!-)[^}]*\}`, 'g');

/** Reports slices, and references to results of steps that are not available. `isComplete`: all steps are known. */
export function resultProblems(
  files: readonly SpecFile[],
  steps: readonly StepEntry[],
  isComplete: boolean,
): Problem[] {
  const users = files.flatMap(actionEntries).filter(({ hasDollar }) => hasDollar);
  if (users.length === 0) return [];
  const variables = declaredNames(files, steps);
  const before = dependenciesOf(steps);
  const positions = new Map(steps.map(({ raw }, at) => [raw as ActionEntry['raw'], at]));
  const unnamed = new Set(steps.flatMap(({ name, isUnnamed }) => (isUnnamed === true ? (name ?? []) : [])));
  return users.flatMap(({ file, path, raw, what }) => {
    const { script: _, ...rest } = raw;
    const user = positions.get(raw);
    return textsIn(rest, path, '$').flatMap(({ path: at, text }) => {
      const report = (reference: string, { code = 'not-supported', message, help }: Mistake) =>
        problem(code, spotIn(file, at), `"${reference}": ${message}`, { help });
      const slices = [...text.matchAll(SLICE)].map(([reference]) => report(reference, ofSlice));
      const others = [...text.matchAll(REFERENCE)].flatMap(([reference, id = '']) => {
        if (!isComplete || variables.has(id)) return [];
        const used = before.index.get(id);
        if (used === undefined) return unnamed.has(id) ? [report(reference, withoutName(id))] : [];
        const isAvailable = user === undefined || before.has(user, used);
        const mistake = mistakeOf({ reference, id, what, used: isAvailable ? (steps[used]?.raw ?? {}) : null });
        return mistake === null ? [] : [report(reference, mistake)];
      });
      return [...slices, ...others];
    });
  });
}

/** Why a reference is not replaced, and what to write. */
type Mistake = { readonly code?: DiagnosticCode; readonly message: string; readonly help: string };

const ofSlice: Mistake = {
  message: 'a part of a text by its position is not supported',
  help: 'Write "cut" or "head" in the command.',
};

function withoutName(id: string): Mistake {
  const help = 'Give it a name: the first word of its command is only shown as one, and changes with it.';
  return { code: 'missing-dependency', message: `"${id}" is a step without a name`, help };
}

/** A reference to a step; `used` is null if its user, `what`, does not depend on it. */
type StepReference = {
  readonly reference: string;
  readonly id: string;
  readonly what: string;
  readonly used: RawStep | null;
};

function mistakeOf({ reference, id, what, used }: StepReference): Mistake | null {
  if (id.includes('-')) {
    const help = 'Give that step an "id" of that form, and write it here.';
    return { message: `"${id}" is not a name of letters, digits and "_"`, help };
  }
  if (used === null) {
    const code = 'missing-dependency';
    if (what === `step "${id}"`)
      return { code, message: 'a step cannot use its own result', help: 'Use it in a later step.' };
    const help = `Add "depends: ${id}": the result is known only after the step has finished.`;
    return { code, message: `${what} does not depend on "${id}"`, help };
  }
  const isPublishing = typeof used.output === 'object' || used.outputs !== undefined;
  if (used.run === undefined && !isPublishing && /^\$\{[\w-]+\.outputs\b/.test(reference)) {
    const help = `With "output", it has \${${id}.output}, or \${${id}.output.KEY} if that is a map.`;
    return { message: `step "${id}" runs no other workflow, and has no "outputs"`, help };
  }
  if (/^\$\{[\w-]+\.artifacts\b/.test(reference) && used.run === undefined && !keepsArtifacts(used)) {
    const help = 'Name the files in that step, for example artifacts: dist/**';
    return { message: `step "${id}" keeps no artifacts`, help };
  }
  if (used.sources !== undefined && /\.(?:stdout|stderr)\b/.test(reference)) {
    const help = `It has no log if it is up to date. Use \${${id}.output} with "output", which is stored.`;
    return { message: `step "${id}" has "sources", and no log of every run`, help };
  }
  if (rawFanOut(used) === null || /\.(?:status|output|artifacts)\b/.test(reference)) return null;
  const help = `Its output holds the result of each item: \${${id}.output.results[0].exitCode}.`;
  return { message: `step "${id}" runs for several items, and has only "status" and "output"`, help };
}

/** The names that the `env` and `params` of files and the `env` and outputs of steps set. */
export function declaredNames(
  files: readonly SpecFile[],
  steps: readonly Pick<ActionEntry, 'raw'>[],
): ReadonlySet<string> {
  const envs = [...files, ...steps].map(({ raw }) => raw.env);
  const outputs = steps.flatMap(({ raw }) => outputName(raw) ?? []);
  return new Set([...envNames(envs), ...paramNames(files), ...outputs]);
}

/**
 * Warns of steps that start at the same time although the file says nothing of their order: Dagu from 1.17 to 2.6 starts
 * them one after another, and stops at the first failure. `settings`: the base and the root file.
 */
export function orderProblems(settings: readonly SpecFile[], steps: readonly StepEntry[]): Problem[] {
  const root = settings.at(-1);
  if (root === undefined || root.isOfDagu3 || settings.some(({ raw }) => raw.type !== undefined)) return [];
  const free = steps.filter(({ raw }) => asList(raw.depends).length === 0);
  const isOrdered = free.length < steps.length && !root.isOfLaterDagu;
  if (free.length < 2 || isOrdered) return [];
  const wanted = withoutIgnoring(free, 'unordered-steps', 2);
  const limit = settings
    .map(({ raw }) => raw.maxActiveSteps ?? raw.maxActiveRuns)
    .findLast((most) => most !== undefined);
  const message =
    limit === 1
      ? `these ${wanted.length} steps run one after another, each also after a failure of the one before`
      : `these ${wanted.length} steps start at the same time`;
  const help = 'Write "type: chain" at the top to run them in this order, or "type: graph" if this is intended.';
  const [first, ...others] = wanted;
  if (first === undefined) return [];
  const related = others.slice(0, 1).map((entry) => ({ spot: nameSpot(entry), message: 'and this one' }));
  return [problem('unordered-steps', nameSpot(first), message, { severity: 'warning', help, related })];
}

/** Warns of steps that use the output of a step that they do not depend on. `isStrict`: an error. */
export function outputProblems(
  settings: readonly SpecFile[],
  steps: readonly StepEntry[],
  { isStrict }: { readonly isStrict: boolean },
): Problem[] {
  const setters = settersOf(steps);
  const envs = settings.map(({ raw }) => raw.env);
  for (const name of [...paramNames(settings), ...envNames(envs)]) setters.delete(name);
  if (setters.size === 0 || settings.some(({ raw }) => raw.dotenv !== undefined)) return [];
  const before = dependenciesOf(steps);
  const shell = settings.map(({ raw }) => raw.shell).findLast((given) => given !== undefined) ?? 'sh';
  const isInside = settings.some(({ raw }) => raw.container !== undefined);
  const names = new Map(steps.map((entry, at) => [entry.raw as object, at]));
  return [...new Set(steps.map(({ file }) => file))].flatMap(actionEntries).flatMap(({ raw, hasDollar }) => {
    const at = names.get(raw);
    const entry = at === undefined ? undefined : steps[at];
    // Handlers may use the outputs of all steps.
    if (!hasDollar || at === undefined || entry === undefined || before.isChained(at)) return [];
    const own = new Set(envNames([raw.env]));
    const seen = new Set<string>();
    return entryUses(raw, isInside ? null : shell).flatMap((use) => {
      const found = setters.get(use.name);
      if (found === undefined || own.has(use.name) || seen.has(use.name)) return [];
      seen.add(use.name);
      if (found.some((setter) => setter === at || before.has(at, setter))) return [];
      const setter = steps[found[0] ?? -1];
      if (setter === undefined) return [];
      const spot = spotIn(entry.file, [...entry.path, ...use.path]);
      const word = { at: use.at, text: use.name };
      const message = `$${use.name} is the output of "${setter.name}", which "${entry.name}" does not depend on`;
      return [
        problem('unordered-output', { ...spot, word }, message, {
          severity: isStrict ? 'error' : 'warning',
          help: `Write "depends: ${setter.name}" in "${entry.name}", or "\${${use.name}:-}" if it may be missing.`,
          related: [
            { spot: spotIn(setter.file, [...setter.path, 'output']), message: `the output of "${setter.name}"` },
          ],
        }),
      ];
    });
  });
}

/** Warns of a limit that means runs in Dagu 1.17 and later, if nothing else in the file shows whether it is for those. */
export function limitProblems(file: SpecFile): Problem[] {
  const { maxActiveRuns, maxActiveSteps } = file.raw;
  if (maxActiveRuns === undefined || maxActiveRuns < 1 || maxActiveSteps !== undefined) return [];
  const message = '"maxActiveRuns" limits the steps that run at once; in Dagu 1.17 and later it limits runs';
  const help = 'Write "maxActiveSteps" for steps, or "maxConcurrent" for runs.';
  return [problem('limit-of-runs', spotIn(file, ['maxActiveRuns'], 'key'), message, { severity: 'warning', help })];
}

/** The steps that set each output. */
function settersOf(steps: readonly StepEntry[]): Map<string, number[]> {
  const setters = new Map<string, number[]>();
  for (const [at, { raw }] of steps.entries()) {
    const name = outputName(raw);
    if (name !== null) setters.set(name, [...(setters.get(name) ?? []), at]);
  }
  return setters;
}

/** A parameter's default or an entry of `env`, with the variables it refers to. */
type Variable = {
  readonly kind: 'param' | 'env';
  readonly name: string;
  readonly refers: readonly string[];
  readonly spot: Spot;
};

const VARIABLE_REFERENCE = /\\\$|\$(?:\{([A-Za-z_]\w*|\d+)|([A-Za-z_]\w*|\d+))/g;

/**
 * Reports cycles between parameters and `env`: a default may use earlier parameters and `env`, an entry of `env`
 * earlier entries and the parameters. Any other name is a variable of the process. `files` are the base and the root,
 * in this order.
 */
export function variableProblems(files: readonly SpecFile[]): Problem[] {
  const env = files.flatMap(envOf);
  const params = files.findLast((file) => file.raw.params !== undefined);
  const variables = [...(params === undefined ? [] : paramsOf(params)), ...env];
  return cyclesOf(edgesOf(variables), 1).map((cycle) => cycleProblem(cycle.flatMap(({ to }) => variables[to] ?? [])));
}

function envOf(file: SpecFile): Variable[] {
  return assignments(file.raw.env).map(({ name, value, path }) => {
    return { kind: 'env', name, refers: references(value), spot: spotIn(file, ['env', ...path]) };
  });
}

function paramsOf(file: SpecFile): Variable[] {
  const spot = spotIn(file, ['params']);
  return parseParamDefaults(file.raw.params).map(({ name, value }, index) => {
    return { kind: 'param', name: name ?? String(index + 1), refers: references(value), spot };
  });
}

function references(value: string): string[] {
  return [...value.matchAll(VARIABLE_REFERENCE)].flatMap(([, braced, plain]) => braced ?? plain ?? []);
}

/** What each variable refers to; parameters take precedence, and `env` sees only earlier entries. */
function edgesOf(variables: readonly Variable[]): Edge[][] {
  const params = new Map<string, number>();
  const env = new Map<string, number>();
  for (const [at, { kind, name }] of variables.entries()) if (kind === 'env') env.set(name, at);
  const earlierEnv = new Map<string, number>();
  return variables.map(({ kind, name, refers }, at) => {
    const visibleEnv = kind === 'env' ? earlierEnv : env;
    const edges = refers.flatMap((reference) => {
      const to = params.get(reference) ?? visibleEnv.get(reference);
      return to === undefined ? [] : { from: at, to };
    });
    if (kind === 'env') earlierEnv.set(name, at);
    else params.set(String(at + 1), at).set(name, at);
    return edges;
  });
}

function cycleProblem(cycle: readonly Variable[]): Problem {
  const label = ({ kind, name }: Variable) => `${kind === 'env' ? 'env' : 'params'} "${name}"`;
  const [first, ...others] = cycle;
  if (first === undefined) throw new Error('a cycle without variables');
  const path = [...cycle, first].map(label).join(' -> ');
  return problem('variable-cycle', first.spot, `variables form a reference cycle: ${path}`, {
    related: others.map((variable) => ({ spot: variable.spot, message: `${label(variable)} is defined here` })),
    help: 'Give one of them a value without a variable.',
  });
}

/** `$NAME`, `${NAME...}`, `$1`, and escaped dollars, to skip them. */
const WORD_REFERENCE = /\\\$|\$(?:\{([A-Za-z_]\w*|\d+)[^}]*\}|([A-Za-z_]\w*|[1-9]))/g;

/**
 * Warns about parameters and outputs in the query of a URL: their values are not encoded, so that `&` and `=` in a
 * value change the request. `settings` are the base and the root, `files` all files with steps or handlers.
 */
export function queryProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const entries = files.flatMap(actionEntries);
  const urls = entries.flatMap((entry) => urlTexts(entry).map((url) => ({ ...url, entry })));
  const used = urls.map((url) => ({ ...url, names: queryNames(url.text) })).filter(({ names }) => names.length > 0);
  if (used.length === 0) return [];
  const known = valuesFromOutside(settings, entries);
  return used.flatMap(({ entry, path, names }) => {
    const raw = names.filter((name) => known.has(name) || /^\d/.test(name));
    if (raw.length === 0) return [];
    const shown = raw.map((name) => `$${name}`).join(', ');
    const message = `${entry.what}: ${shown} in the query of a URL is not encoded: "&" and "=" in a value change the request`;
    const help = 'Use "query" in the "config" of the executor, which encodes values.';
    return [problem('raw-query', spotIn(entry.file, path), message, { severity: 'warning', help })];
  });
}

/** The texts of a step that form its URL, each with its path. */
function urlTexts({ path, raw }: ActionEntry): readonly { readonly text: string; readonly path: Path }[] {
  const { type, config } = executorOf(raw);
  if (type === 'webhook') {
    const url = config?.['url'];
    return typeof url === 'string' ? [{ text: url, path: [...path, 'executor', 'config', 'url'] }] : [];
  }
  if (type !== 'http') return [];
  const command = typeof raw.command === 'string' ? unquoted(raw.command) : raw.command;
  return [...textsIn(command, [...path, 'command']), ...textsIn(raw.args, [...path, 'args'])];
}

/** Between single quotes a dollar is not special. */
function unquoted(command: string): string {
  return /\s'[^']*'\s*$/.test(command) ? '' : command;
}

/** The variables between `?` and `#`. */
function queryNames(text: string): readonly string[] {
  // A question mark within braces does not start a query.
  const plain = text.replace(/\$\{[^}]*\}/g, (variable) => '_'.repeat(variable.length));
  const start = plain.indexOf('?');
  if (start === -1) return [];
  const end = plain.indexOf('#', start);
  const query = text.slice(start, end === -1 ? text.length : end);
  return [...new Set([...query.matchAll(WORD_REFERENCE)].flatMap(([, braced, name]) => braced ?? name ?? []))];
}

/** The names of parameters and outputs; values in `env` are the author's own. */
function valuesFromOutside(settings: readonly SpecFile[], entries: readonly ActionEntry[]): ReadonlySet<string> {
  const outputs = entries.flatMap(({ raw }) =>
    typeof raw.output === 'string' ? (variableName(raw.output) ?? []) : [],
  );
  return new Set([...paramNames(settings), ...outputs]);
}
