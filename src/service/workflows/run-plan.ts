import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isItemVariable } from '#core/fan-out/items.ts';
import { MAX_REASONS } from '#core/fingerprint.ts';
import { buildGraph, leftOut, nodeAt, type StepSelection, waves } from '#core/graph.ts';
import type { Plan, PlannedCache, PlannedStep } from '#core/plan.ts';
import type { Param } from '#core/run/run.ts';
import { type Hidden, maskParams, maskValue } from '#core/secrets/mask.ts';
import { labelsText } from '#core/selectors.ts';
import { withNumbers } from '#core/step-numbers.ts';
import {
  expandText,
  lookupIn,
  previewText,
  references,
  shellReferences,
  splitBackticks,
} from '#core/words/interpolate.ts';
import { PathProblem, resultKey } from '#core/words/json-path.ts';
import { workflowNames } from '#core/words/mentions.ts';
import { resultNames } from '#core/words/step-results.ts';
import { allSteps, type Locking, type Precondition, type Step, type Workflow } from '#core/workflow.ts';
import { baseEnvironment, type Environment, evaluateEnvironment, paramText } from '#environment/environment.ts';
import { hasSecrets, knownSecrets, secretsAtRest, settingSecrets } from '#environment/known-secrets.ts';
import { momentVariables } from '#environment/moment.ts';
import { firstUnmet } from '#environment/precondition.ts';
import { artifactTexts, commandText, locksText, readsQuotes, settingWords } from '#render/text.ts';
import type { StepChecks } from '#store/store.ts';
import { acceptParams } from '../runs/given-params.ts';
import { type StartRequest, withDotenv } from '../runs/start-run.ts';
import { lateText, plannedNumbers, plannedPolicies } from './planned-policies.ts';

type PlanRequest = Pick<
  StartRequest,
  'workflow' | 'sources' | 'params' | 'envFiles' | 'dotenv' | 'selection' | 'moment'
> & {
  /** Absent: steps with `sources` are not checked. */
  readonly checks?: StepChecks;
  /** The most reasons for which a step would run; default: `MAX_REASONS`. */
  readonly mostReasons?: number;
};

type StepsPlan = Omit<Plan, 'dotenv' | 'unreadDotenv' | 'scheduledFor'>;

/** Computes the steps that would run, their order and their input, with secrets masked. Throws a `WfError` `invalid-params`. */
export async function planRun(asked: PlanRequest, inherited: Environment, now: number): Promise<Plan> {
  const given = acceptParams(asked.workflow, asked.params);
  const { workflow, dotenv } = await withDotenv(asked, inherited);
  const moments = momentVariables(workflow, asked.moment, now);
  // Which runs have succeeded by then is not known.
  const previous = { WF_PREVIOUS_FOR: `\${WF_PREVIOUS_FOR}` };
  const processEnv = { ...baseEnvironment(dotenv, inherited), ...moments, ...previous };
  const { files = [], missing = [] } = dotenv ?? {};
  const beside = join(workflow.dir, '.env');
  return {
    ...(await planSteps(workflow, given, { ...asked, processEnv, selection: asked.selection, now })),
    ...(asked.moment === undefined ? {} : { scheduledFor: new Date(asked.moment.scheduledFor).toISOString() }),
    dotenv: [...files.map(({ path, names }) => ({ path, names })), ...missing.map((path) => ({ path, names: null }))],
    unreadDotenv: dotenv === undefined && existsSync(beside) ? beside : null,
  };
}

type PlanScope = Pick<PlanRequest, 'checks' | 'mostReasons'> & {
  readonly processEnv: Environment;
  readonly selection: StepSelection | undefined;
  readonly now: number;
};

async function planSteps(workflow: Workflow, given: readonly Param[], within: PlanScope): Promise<StepsPlan> {
  const { processEnv } = within;
  if (!hasSecrets(workflow)) return plan(workflow, given, within);
  const known = knownSecrets(workflow, given, processEnv);
  const env = { ...processEnv, ...known.variables };
  const evaluated = await evaluateEnvironment(withoutRules(workflow), given, env, asWritten);
  const scope = lookupIn({ ...env, ...evaluated.variables });
  for (const name of known.names) known.secrets.add(scope(name) ?? '');
  for (const { value } of settingSecrets(workflow)) known.secrets.add(expandParts(value, scope));
  const secrets = secretsAtRest(workflow, known);
  return hide(await plan(workflow, given, { ...within, processEnv: env }), { secrets, names: known.names });
}

async function plan(workflow: Workflow, given: readonly Param[], within: PlanScope): Promise<StepsPlan> {
  const { processEnv, selection } = within;
  const { params, variables } = await evaluateEnvironment(withoutRules(workflow), given, processEnv, asWritten);
  const known = new Map(Object.entries({ ...processEnv, ...variables }));
  for (const [i, param] of params.entries()) known.set(String(i + 1), paramText(param, workflow.secrets));
  for (const { output } of allSteps(workflow)) if (output !== null) known.set(output, `\${${output}}`);
  const graph = buildGraph(workflow);
  const order = waves(graph).map((numbers) => numbers.map((number) => nodeAt(graph, number).name));
  const scopes = new Map(allSteps(workflow).map((step) => [step.name, scopeOf(step, known)]));
  const scopeFor = (name: string) => scopes.get(name) ?? ((variable: string) => known.get(variable));
  const skips = await plannedSkips(workflow, order, { scopeOf: scopeFor, selection });
  const results = workflow.steps.map(({ id, name }) => id ?? name);
  const shared = new Set([...workflowNames({ workflow, params: [] }), ...results]);
  const planned = (step: Step) => {
    const own = ownNames(step, shared);
    return planStep(workflow, step, { scope: scopeFor(step.name), own, skipped: skips.get(step.name) ?? null });
  };
  const args = params.map((param) => paramText(param, workflow.secrets));
  const caches = await plannedCaches(workflow, within, { scopeFor, args });
  const [runLocks] = plannedLocks(workflow, (name) => known.get(name));
  const types = new Map(workflow.params.map(({ name, rule }) => [name, rule?.type]));
  const typed = (param: Param): Param => {
    const type = param.name === null ? undefined : types.get(param.name);
    return type === undefined ? param : { ...param, type };
  };
  return {
    workflow: workflow.name,
    params: params.map(typed),
    env: Object.fromEntries(workflow.env.map(({ name }) => [name, variables[name] ?? ''])),
    ...limitsOf(workflow, (name) => known.get(name)),
    ...(runLocks === undefined ? {} : { locks: runLocks }),
    ...(workflow.late === undefined ? {} : { late: lateText(workflow.late) }),
    waves: order,
    steps: workflow.steps.map((step) => ({ ...planned(step), ...withCache(caches.get(step.name)) })),
    handlers: allSteps(workflow).slice(workflow.steps.length).map(planned),
    skipped: await plannedSkip(workflow, workflow.preconditions, (name) => known.get(name)),
  };
}

function withCache(cache: PlannedCache | undefined): Pick<PlannedStep, 'cache'> {
  return cache === undefined ? {} : { cache };
}

/** Checks the steps with `sources`, by their names. */
async function plannedCaches(
  workflow: Workflow,
  { checks, mostReasons = MAX_REASONS, now }: PlanScope,
  { scopeFor, args }: { readonly scopeFor: (step: string) => Scope; readonly args: readonly string[] },
): Promise<ReadonlyMap<string, PlannedCache>> {
  const caches = new Map<string, PlannedCache>();
  if (checks === undefined) return caches;
  const { plannedCheck } = await import('./planned-check.ts');
  const results = new Set(workflow.steps.flatMap(resultNames));
  for (const step of workflow.steps) {
    if (step.upToDate === undefined) continue;
    const parts = { scope: scopeFor(step.name), args, results, checks, mostReasons, now };
    caches.set(step.name, await plannedCheck(workflow, { step, rule: step.upToDate }, parts));
  }
  return caches;
}

function limitsOf({ numbers }: Workflow, scope: Scope): Pick<Plan, 'limits'> {
  if (numbers === undefined) return {};
  const { values, left, problems } = plannedNumbers(numbers, scope);
  return {
    limits: [
      ...values.map(({ key, value }) => `${key}: ${value}`),
      ...left.map(({ key, text }) => `${key}: ${text}`),
      ...problems,
    ],
  };
}

/** Given values were checked before; a default that runs a command is known, and checked, only during a run. */
function withoutRules(workflow: Workflow): Workflow {
  const params = workflow.params.map(({ rule: _, ...param }) => param);
  return { ...workflow, params };
}

/** Returns a command substitution as written, since a plan runs no command. */
function asWritten(_command: string, _env: Environment, written: string): Promise<string> {
  return Promise.resolve(`\`${written}\``);
}

function hide({ params, env, limits, locks, waves, ...plan }: StepsPlan, hidden: Hidden): StepsPlan {
  const text = (plain: string) => hidden.secrets.mask(plain);
  const masked = (values: Values) =>
    Object.fromEntries(Object.entries(values).map(([name, value]) => [name, maskValue(name, value, hidden)]));
  const shown = (step: PlannedStep): PlannedStep => ({
    ...step,
    command: text(step.command),
    ...(step.script === undefined ? {} : { script: text(step.script) }),
    values: masked(step.values),
    dir: text(step.dir),
    policies: step.policies.map(text),
    skipped: step.skipped === null ? null : text(step.skipped),
    ...withCache(
      step.cache && {
        ...step.cache,
        reason: step.cache.reason.map((reason) => ({ ...reason, name: text(reason.name) })),
        ...(step.cache.problem === undefined ? {} : { problem: text(step.cache.problem) }),
      },
    ),
  });
  return {
    ...plan,
    params: maskParams(params, hidden),
    env: masked(env),
    ...(limits === undefined ? {} : { limits: limits.map(text) }),
    ...(locks === undefined ? {} : { locks: text(locks) }),
    waves,
    steps: plan.steps.map(shown),
    handlers: plan.handlers.map(shown),
    skipped: plan.skipped === null ? null : text(plan.skipped),
  };
}

/** Returns the variables of a step before a run: the known ones and its own `env`. */
function scopeOf(step: Step, known: ReadonlyMap<string, string>): Scope {
  const own = new Map<string, string>();
  const isOfItem = (name: string) => step.fanOut !== undefined && isItemVariable(name);
  const scope = (name: string) => own.get(name) ?? (isOfItem(name) ? `\${${name}}` : known.get(name));
  for (const { name, value } of step.env) own.set(name, expandParts(value, scope));
  return scope;
}

/** Whether a name is a variable of the workflow, of the step or of its item. */
type IsOwn = (name: string) => boolean;

/** `shared`: the names that all steps have. */
function ownNames(step: Step, shared: ReadonlySet<string>): IsOwn {
  const env = new Set(step.env.map(({ name }) => name));
  return (name) => shared.has(name) || env.has(name) || (step.fanOut !== undefined && isItemVariable(name));
}

type PlannedParts = { readonly scope: Scope; readonly own: IsOwn; readonly skipped: string | null };

function planStep(workflow: Workflow, step: Step, { scope, own, skipped }: PlannedParts): PlannedStep {
  const numbers = plannedNumbers(step.numbers ?? [], scope);
  return {
    name: step.name,
    depends: step.depends,
    executor: step.executor.type,
    command: commandText(step, own),
    ...(step.script === null ? {} : { script: step.script.trimEnd() }),
    values: valuesIn(step, own, scope),
    dir: previewText(step.dir ?? workflow.dir, scope),
    attempts: withNumbers(step, numbers.values).retry.limit + 1,
    policies: [
      ...plannedLocks(step, scope).map((text) => `holds the ${text}`),
      ...plannedSelector(step, scope),
      ...artifactTexts(step, { textOf: (text) => previewText(text, scope) }),
      ...plannedPolicies(step, numbers, workflow.container),
    ],
    skipped,
  };
}

/** The locks of a step or run, in one line, and how long it waits for them; nothing without locks. */
function plannedLocks({ locks = [], lockTimeoutMs = 0 }: Locking, scope: Scope): readonly string[] {
  if (locks.length === 0) return [];
  const limit = lockTimeoutMs === 0 ? '' : `; waits up to ${lockTimeoutMs / 1000}s`;
  return [`${locksText(locks, (name) => previewText(name, scope))}${limit}`];
}

/** The labels that a step needs of its worker, as far as they are known; nothing if any worker may execute it. */
function plannedSelector({ workerSelector }: Step, scope: Scope): readonly string[] {
  if (workerSelector === undefined) return [];
  const known = Object.entries(workerSelector).map(([name, value]) => [name, previewText(value, scope)] as const);
  return [`needs a worker with ${labelsText(Object.fromEntries(known))}`];
}

function expandParts(template: string, scope: Scope): string {
  const parts = splitBackticks(template);
  return parts.map((part) => ('text' in part ? previewText(part.text, scope) : `\`${part.command}\``)).join('');
}

type Scope = (name: string) => string | undefined;

type Values = Readonly<Record<string, string>>;

/** The values, known before a run, of the variables that the command and the script use, by name. */
function valuesIn(step: Step, own: IsOwn, scope: Scope): Values {
  const { command, args, script, executor } = step;
  const code = [typeof command === 'string' ? command : '', script ?? ''];
  const list = typeof command === 'string' ? [] : (command ?? []);
  const { before, after } = settingWords(step);
  const names = new Set([
    ...code.flatMap(readsQuotes.has(executor.type) ? shellReferences : references),
    ...list.flatMap(references).filter(own),
    ...[...args, ...before, ...after].flatMap(references),
  ]);
  const known = [...names].map((name) => [name, scope(name)] as const);
  return Object.fromEntries(
    known.flatMap(([name, value]) => (value === undefined || value === `\${${name}}` ? [] : [[name, value]])),
  );
}

/** Returns by step why it would be skipped, as far as known values and no command tell that. */
async function plannedSkips(
  workflow: Workflow,
  waves: readonly (readonly string[])[],
  { scopeOf, selection }: { scopeOf: (step: string) => Scope; selection: StepSelection | undefined },
): Promise<ReadonlyMap<string, string>> {
  const steps = new Map(workflow.steps.map((step) => [step.name, step]));
  const skips = new Map<string, string>();
  const out = leftOut(buildGraph(workflow), selection);
  const causes = new Map<string, string>();
  for (const step of waves.flat().flatMap((name) => steps.get(name) ?? [])) {
    // A step that is left out does not skip its dependents.
    const own = out.has(step.name) ? null : await plannedSkip(workflow, step.preconditions, scopeOf(step.name));
    const before = step.depends.find((name) => causes.has(name) && steps.get(name)?.continueOn.skipped === false);
    const why = before === undefined ? own : `"${before}" is skipped`;
    if (why !== null) causes.set(step.name, why);
    const shown = out.has(step.name) ? 'left out' : why;
    if (shown !== null) skips.set(step.name, shown);
  }
  return skips;
}

/** Returns the unmet precondition; null: all are met, or that is not known before a run. */
function plannedSkip(workflow: Workflow, preconditions: readonly Precondition[], scope: Scope): Promise<string | null> {
  const decidable = preconditions.filter((precondition) => isDecidable(workflow, precondition, scope));
  const capture = () => Promise.reject(new Error('A plan runs no command.'));
  return firstUnmet(decidable, { what: 'precondition', scope, capture });
}

/** Whether a run sets a variable that a plan does not know. */
function isSetByRun(name: string): boolean {
  return /^(WF|DAG)_/.test(name) && !/^WF_SCHEDULED_(FOR|DATE)$/.test(name);
}

function isDecidable(workflow: Workflow, { condition, expected }: Precondition, scope: Scope): boolean {
  if (expected === null || splitBackticks(condition).some((part) => !('text' in part))) return false;
  const steps = allSteps(workflow);
  const set = new Set([...steps.map(({ output }) => output), ...steps.flatMap(resultNames).map(resultKey)]);
  let isKnown = true;
  const watched = (name: string) => {
    const value = scope(name);
    // The first is set during a run; the last contains a command, which a plan does not run.
    if (isSetByRun(name) || set.has(name) || value?.includes('`')) isKnown = false;
    return value;
  };
  try {
    expandText(condition, watched);
    expandText(expected, watched);
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    return false;
  }
  return isKnown;
}
