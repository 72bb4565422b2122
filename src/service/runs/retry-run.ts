import { buildGraph, type Graph } from '../../core/graph.ts';
import { planRetry, type RetryPlan, type RetrySelection } from '../../core/run/retry.ts';
import type { Param } from '../../core/run/run.ts';
import { isFinished } from '../../core/run/run-state.ts';
import { WfError } from '../../errors.ts';
import { noSuchStep } from '../history/no-such-step.ts';
import { type PastRun, unjudged } from '../history/past-run.ts';
import type { LoadedWorkflow } from '../workflows/workflows.ts';
import { checkGivenParams } from './given-params.ts';
import type { StartRequest } from './runs.ts';

/** What of a run is to be run again, and with what. */
export type RetryRequest = {
  readonly selection: RetrySelection;
  /** Instead of those that the run was given; null: the same again. */
  readonly params: readonly Param[] | null;
  /** Instead of the workflow as it was then; null: the same again. */
  readonly current: LoadedWorkflow | null;
  readonly runId: string | null;
  /** Failures that `continueOn.failure` tolerates fail the new run, as they do when they failed the run that is retried. */
  readonly strict?: boolean;
};

/**
 * The request for the run that retries another one; null when there is nothing left to do. Throws a `WfError`:
 * `run-active`, `invalid-params`, `not-found` for a step, `storage` when what the run was made from is lost, `usage` when secrets that were
 * not kept would be needed.
 */
export function retryRequest(run: PastRun, request: RetryRequest): StartRequest | null {
  if (!isFinished(run.state)) throw stillActive(run);
  const { workflow, sources, warnings } = request.current ?? storedWorkflow(run);
  const params = request.params ?? keptParams(run);
  checkGivenParams(workflow, params);
  const { restored, rerun, missing } = plan(run, request.selection, buildGraph(workflow));
  if (missing !== undefined) throw secretOutputs(missing);
  if (rerun.length === 0 && !isEndMissing(run)) return null;
  const retry = { of: run.runId, restored };
  const strict = request.strict === true || run.state.strict;
  return { workflow, sources, warnings, params, runId: request.runId, trigger: 'cli', strict, retry };
}

/** All steps came out well, but a handler failed, or the process died over what comes after them. */
export function isEndMissing({ state }: PastRun): boolean {
  return state.reason === 'handler' || state.reason === 'lost';
}

function plan({ state }: PastRun, selection: RetrySelection, graph: Graph): RetryPlan {
  const name = 'only' in selection ? selection.only : 'from' in selection ? selection.from : null;
  const number = name === null ? 0 : graph.index.get(name);
  if (name !== null && (number === undefined || number >= graph.stepCount)) throw noSuchStep(name, graph);
  return planRetry(state, selection, graph);
}

function storedWorkflow({ runId, stored, damage }: PastRun): LoadedWorkflow {
  const help = 'use --file to run the file as it is today';
  if (stored === null) throw new WfError('storage', `run ${runId} cannot be retried: ${damage.join(' ')}`, { help });
  if (!stored.masked) return { workflow: stored.workflow, sources: stored.sources, warnings: [] };
  throw new WfError('usage', `the workflow of run ${runId} spells out secrets, which are not kept`, { help });
}

/** The parameters that a run was given. Throws a `WfError` `usage` where they were secret: a mask is no value. */
export function keptParams({ runId, state }: PastRun): readonly Param[] {
  const masked = state.givenParams.filter((param) => param.masked);
  if (masked.length === 0) return state.givenParams;
  const names = masked.map(({ name }) => (name === null ? 'one without a name' : `"${name}"`)).join(', ');
  throw new WfError('usage', `run ${runId} was given secret parameters, which are not kept: ${names}`, {
    help: 'give all its parameters again, with -p NAME=value',
  });
}

function secretOutputs(names: readonly string[]): WfError {
  const which = names.map((name) => `"${name}"`).join(', ');
  return new WfError(
    'usage',
    `the step cannot run alone: outputs of other steps were secret and are not kept: ${which}`,
    {
      help: 'leave out --step, or use --from with the step that gives them',
    },
  );
}

function stillActive(run: PastRun): WfError {
  const { runId, state } = run;
  if (run.isUnjudged) {
    throw new WfError('run-active', `run ${runId} may still be running: ${unjudged(run)}`, {
      help:
        state.owner === null
          ? `wf stop ${runId} cancels it`
          : `if that process is gone for certain, wf stop --owner-gone ${runId} records the run as lost; then retry it`,
    });
  }
  const owner = state.owner === null ? '' : `: process ${state.owner.pid} on "${state.owner.host}" runs it`;
  return new WfError('run-active', `run ${runId} is still going${owner}`, { help: 'retry it when it has ended' });
}
