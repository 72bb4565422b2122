import { given } from '#core/data/collections.ts';
import { buildGraph, leftOut, type StepSelection } from '#core/graph.ts';
import type { Param, Restored, ScheduledMoment, Trigger } from '#core/run/run.ts';
import type { SecretSource, Workflow } from '#core/workflow.ts';
import type { DotenvRead, RunRequest } from '#engine/engine.ts';
import type { Environment } from '#environment/environment.ts';
import { latestTimes } from '#environment/moment.ts';
import { WfError } from '#system/errors.ts';
import { isMadeRunId, newRunId } from '../service.ts';
import type { LoadedWorkflow } from '../workflows/workflows.ts';
import { acceptParams, refuseReplacements } from './given-params.ts';

/** A request for a run. */
export type StartRequest = LoadedWorkflow & {
  /** Literal data, never evaluated. */
  readonly params: readonly Param[];
  /** The result of `acceptParams`, if it was called before. */
  readonly accepted?: readonly Param[];
  /** Absolute paths of dotenv files that override those of the workflow. */
  readonly envFiles?: readonly string[];
  /** Absent until the files are read, and if there are none. */
  readonly dotenv?: DotenvRead;
  /** Null: a new id. */
  readonly runId: string | null;
  readonly trigger: Trigger;
  /** Failures that `continueOn.failure` tolerates fail the run. */
  readonly strict?: boolean;
  /** Steps that run even if they are up to date; `all`: those of sub-workflows too. Absent: none. */
  readonly force?: 'all' | readonly string[];
  /** Steps that have the result of their last success; absent: none. */
  readonly assumed?: readonly string[];
  /** Steps neither restore nor keep results. */
  readonly isUncached?: true;
  /** How steps that ask for an approval are answered; absent: they wait for a person. */
  readonly onApproval?: 'reject' | 'approve';
  /** The part of the workflow to run; absent: all of it. */
  readonly selection?: StepSelection;
  /** Of a retry: the retried run, and the steps restored from it. */
  readonly retry?: { readonly of: string; readonly restored: readonly Restored[] };
  /** The moment for which the run is started; absent: none. */
  readonly moment?: ScheduledMoment;
  /** The backfill that the run is part of; absent: none. */
  readonly backfill?: string;
  /** The number of a retry by a daemon, from 1. */
  readonly retryNumber?: number;
};

/** The requests whose ids are derived, not chosen. */
const DERIVED: ReadonlySet<Trigger> = new Set(['schedule', 'retry', 'backfill']);

/** Converts a request for the engine. Throws a `WfError`: `invalid-params`, or `usage` for a value that cannot be passed to a program. */
export function runRequest(request: StartRequest): RunRequest {
  const { workflow, sources, trigger, strict = false, retry, retryNumber, dotenv, onApproval, selection } = request;
  const { moment, backfill } = request;
  const force = request.force === 'all' ? 'all' : checkedSteps(workflow, request.force, '--force');
  const assumed = checkedSteps(workflow, request.assumed, '--assume-up-to-date');
  const isTimed = trigger === 'schedule' && moment !== undefined && workflow.late !== undefined;
  const latest = isTimed ? latestTimes(workflow, moment) : undefined;
  const params = request.accepted ?? acceptParams(workflow, request.params);
  if (request.runId !== null && !DERIVED.has(trigger)) refuseChosenId(request.runId, workflow);
  refuseMasked(params);
  refuseUnusable(params);
  return {
    runId: request.runId ?? newRunId(),
    workflow,
    sources,
    params,
    trigger,
    retryOf: retry?.of ?? null,
    restored: retry?.restored ?? withoutSteps(workflow, selection),
    ancestors: [],
    strict,
    ...given({ dotenv, selection, moment, backfill, latest, retryNumber, onApproval, force, assumed }),
    ...given({ isUncached: request.isUncached }),
  };
}

function withoutSteps(workflow: Workflow, selection: StepSelection | undefined): readonly Restored[] {
  if (selection === undefined) return [];
  return Array.from(leftOut(buildGraph(workflow), selection), (step) => ({ step, status: 'skipped', outputs: {} }));
}

/** Steps with `sources` by their names. Throws a `WfError` `usage` for one that does not exist, or is never up to date. */
function checkedSteps({ name, steps }: Workflow, given: readonly string[] | undefined, option: string) {
  return given?.map((word) => {
    const step = steps.find((one) => one.name === word || one.id === word);
    if (step === undefined)
      throw new WfError('usage', `"${option.slice(2)}" names "${word}", and workflow "${name}" has no such step`, {
        help: `wf run FILE ${option} STEP${option === '--force' ? ', or wf run FILE --force for all of them' : ''}`,
      });
    if (step.upToDate === undefined) throw new WfError('usage', `step "${word}" has no "sources": it runs in each run`);
    return step.name;
  });
}

/** Clients make ids as `wf` does, so that they can repeat a request: such ids are accepted. */
function refuseChosenId(runId: string, { name, runConfig }: Workflow): void {
  if (!runConfig?.disableRunIdEdit || isMadeRunId(runId)) return;
  throw new WfError('usage', `a run of workflow "${name}" gets its own id: "runConfig" disables others`);
}

function refuseMasked(params: readonly Param[]): void {
  const index = params.findIndex((param) => param.masked);
  const masked = params[index];
  if (masked === undefined) return;
  const which = masked.name === null ? `parameter ${index + 1}` : `parameter "${masked.name}"`;
  throw new WfError('usage', `the value of ${which} was not kept: it is or holds a secret`, { help: 'give it again' });
}

/** Rejects values that cannot be passed to a program, neither as an argument nor in its environment. */
function refuseUnusable(params: readonly Param[]): void {
  const index = params.findIndex(({ value }) => value.includes('\0'));
  if (index === -1) return;
  const name = params[index]?.name;
  const which = name === null ? `parameter ${index + 1}` : `parameter "${name}"`;
  throw new WfError('usage', `the value of ${which} contains the character U+0000`, { help: 'remove that character' });
}

type Wants = Parameters<typeof refuseReplacements>[0] & { readonly envFiles?: readonly string[] };

/**
 * Reads the dotenv files of a request, unless it has read them before. The variables of secret files become secrets of
 * its workflow. Throws a `WfError`: `usage` that names the file and the line, `invalid-params` for a parameter that would
 * replace what they, the file or the environment set.
 */
export async function withDotenv<Request extends Wants>(asked: Request, processEnv: Environment): Promise<Request> {
  const request = await readFiles(asked, processEnv);
  refuseReplacements(request, processEnv);
  return request;
}

async function readFiles<Request extends Wants>(request: Request, processEnv: Environment): Promise<Request> {
  const { workflow, envFiles = [], dotenv, params = [] } = request;
  if (dotenv !== undefined || (workflow.dotenv === undefined && envFiles.length === 0)) return request;
  const { readDotenv } = await import('./read-dotenv.ts');
  const { secretNames, ...read } = readDotenv({ workflow, params, envFiles }, processEnv);
  return { ...request, workflow: withSecrets(workflow, secretNames), dotenv: read };
}

function withSecrets(workflow: Workflow, names: readonly string[]): Workflow {
  const listed = new Set(workflow.secrets.map(({ name }) => name));
  const added = names
    .filter((name) => !listed.has(name))
    .map((name): SecretSource => ({ name, env: null, file: null }));
  return added.length === 0 ? workflow : { ...workflow, secrets: [...workflow.secrets, ...added] };
}
