import type { Param, RestoredStep, Trigger } from '../../core/run/run.ts';
import type { ActiveRun, Engine, RunRequest, RunWatcher } from '../../engine/engine.ts';
import { WfError } from '../../errors.ts';
import type { LoadedWorkflow } from '../workflows/workflows.ts';
import { checkGivenParams } from './given-params.ts';
import { newRunId } from './run-id.ts';

/** A run that somebody asks for. */
export type StartRequest = LoadedWorkflow & {
  /** As given: data, never evaluated. */
  readonly params: readonly Param[];
  /** Null: a new one is made. */
  readonly runId: string | null;
  readonly trigger: Trigger;
  /** Failures that `continueOn.failure` tolerates fail the run. */
  readonly strict?: boolean;
  /** Of a retry: the run that is retried, and what is taken over from it. */
  readonly retry?: { readonly of: string; readonly restored: readonly RestoredStep[] };
};

/** Starts a run. Throws a `WfError`: `invalid-params`, `usage` for a value that no program can be given, `run-exists`, `storage`. */
export function startRun(engine: Engine, request: StartRequest, watcher: RunWatcher): ActiveRun {
  return engine.start(runRequest(request), watcher);
}

/** The request as an engine takes it. Throws a `WfError`: `invalid-params`, or `usage` for a value that no program can be given. */
export function runRequest(request: StartRequest): RunRequest {
  const { workflow, sources, params, trigger, strict = false, retry } = request;
  checkGivenParams(workflow, params);
  refuseMasked(params);
  refuseUnusable(params);
  return {
    runId: request.runId ?? newRunId(),
    workflow,
    sources,
    params,
    trigger,
    retryOf: retry?.of ?? null,
    restored: retry?.restored ?? [],
    ancestors: [],
    strict,
  };
}

/** What an earlier run has kept of a secret is no value to run with. */
function refuseMasked(params: readonly Param[]): void {
  const masked = params.find((param) => param.masked);
  if (masked === undefined) return;
  throw new WfError(
    'usage',
    `the value of parameter "${masked.name ?? masked.value}" was not kept: it is or holds a secret`,
    {
      help: 'give it again',
    },
  );
}

/** No program can be given such a value, neither as a word nor in its environment. */
function refuseUnusable(params: readonly Param[]): void {
  const index = params.findIndex(({ value }) => value.includes('\0'));
  if (index === -1) return;
  const name = params[index]?.name;
  const which = name === null ? `parameter ${index + 1}` : `parameter "${name}"`;
  throw new WfError('usage', `the value of ${which} holds the character U+0000`, { help: 'give it without' });
}
