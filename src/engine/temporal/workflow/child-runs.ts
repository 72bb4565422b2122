import {
  CancellationScope,
  ChildWorkflowCancellationType,
  type ChildWorkflowHandle,
  startChild,
} from '@temporalio/workflow';
import { given } from '#core/data/collections.ts';
import type { Step } from '#core/workflow.ts';
import type { SubworkflowResult } from '#executors/executor.ts';
import { RunningAttempts } from '../../attempt/running-attempts.ts';
import { childRequest, graceOf, knownWorkflow } from '../../driver/child-run.ts';
import type { OuterLock } from '../../engine.ts';
import {
  type ChildEnd,
  type ChildStart,
  type EngineResult,
  type EngineRun,
  NAMES,
  RUN_TYPE,
  runOptions,
  type StopOrder,
} from '../protocol.ts';
import { clock, within } from './activities.ts';

/** The run whose steps have child runs. */
export type ChildRunsHost = {
  readonly run: EngineRun;
  readonly secrets: () => readonly string[];
  /** The worker to which the run is bound; null: none. */
  readonly worker: () => string | null;
  /** The locks within which the child run of a step runs. */
  readonly locksAround: (step: string) => readonly OuterLock[];
  readonly learn: (secrets: readonly string[]) => void;
  /** Called with an internal error. */
  readonly fail: (error: unknown) => void;
};

/** How the attempt at a step is asked to end: see `RunningAttempts`. */
export type EndOfAttempt = 'stop' | 'end' | 'kill';

/** A child that is a workflow of its own. */
type ChildHandle = Pick<ChildWorkflowHandle<(run: EngineRun) => Promise<EngineResult>>, 'signal' | 'result'>;

/** The child runs of a run: workflows of their own, which stop with the steps that run them. */
export class ChildRuns {
  readonly #host: ChildRunsHost;
  readonly #running: RunningAttempts;
  readonly #steps = new Set<string>();

  constructor(host: ChildRunsHost) {
    this.#host = host;
    this.#running = new RunningAttempts(clock, graceOf(host.run.request));
  }

  /** Whether the child run of a step is in progress. */
  has(step: string): boolean {
    return this.#steps.has(step);
  }

  /** Starts the child run of a step; `done` is called when it has ended. Time limits are those of the step. */
  start(step: Step, start: ChildStart, done: (end: ChildEnd) => void): void {
    const { request } = this.#host.run;
    const earlier = (start.isRetry && request.known?.retries?.[step.name]) || null;
    const child = this.#child(start, earlier, this.#host.locksAround(step.name));
    const { timeoutMs, graceMs } = start;
    const timed: Step = { ...step, timeoutMs, ...(graceMs === undefined ? {} : { graceMs }) };
    const { signal, kill } = this.#running.enter(timed);
    this.#running.begin(timed);
    this.#steps.add(step.name);
    const started = lasting(() =>
      startChild<(run: EngineRun) => Promise<EngineResult>>(RUN_TYPE, {
        ...runOptions(child),
        cancellationType: ChildWorkflowCancellationType.ABANDON,
      }),
    );
    signal.onAbort(() => this.#send(started, 'the step that runs it was stopped', false));
    kill.onAbort(() => this.#send(started, 'the step that runs it was killed', true));
    const end = (result: SubworkflowResult) => {
      this.#running.leave(step.name);
      this.#steps.delete(step.name);
      const ended = signal.reason === 'timeout' ? 'timeout' : signal.reason === null ? null : 'stop';
      done({ start, retryOf: earlier?.retryOf ?? null, result, ended });
    };
    started
      .then((handle) => handle.result())
      .then(
        ({ secrets, child: result }) => {
          this.#host.learn(secrets);
          end(result ?? lost(start.runId, 'it has no result'));
        },
        (error: unknown) => end(lost(start.runId, causeOf(error))),
      )
      .catch((error: unknown) => this.#host.fail(error));
  }

  /** Asks the child run of a step to end. */
  end(step: string, how: EndOfAttempt): void {
    if (how === 'kill') this.#running.killStep(step);
    else if (how === 'stop') this.#running.stopStep(step);
    else this.#running.end(step);
  }

  #child(
    { runId, run, params }: ChildStart,
    earlier: Parameters<typeof childRequest>[2]['earlier'],
    outerLocks: readonly OuterLock[],
  ): EngineRun {
    const { request, engine, release, lostAfterMs, locks, childQueues = [] } = this.#host.run;
    const own = childRequest(request, knownWorkflow(request, run), { runId, params, earlier });
    const worker = this.#host.worker();
    const queues = childQueues.filter(({ name }) => name === own.workflow.queue && own.queues?.includes(name) !== true);
    return {
      request: outerLocks.length === 0 ? own : { ...own, outerLocks },
      engine,
      ...given({ release }),
      at: clock.now(),
      lostAfterMs,
      ...(queues.length === 0 ? {} : { queues }),
      ...(childQueues.length === 0 ? {} : { childQueues }),
      ...(locks === undefined ? {} : { locks }),
      secrets: this.#host.secrets(),
      ...(worker === null ? {} : { worker }),
    };
  }

  #send(started: Promise<ChildHandle>, message: string, force: boolean): void {
    const order: StopOrder = { reason: 'stop', message, force };
    // A child run that has ended needs no message.
    started.then((child) => lasting(() => child.signal(NAMES.stop, order))).catch(() => {});
  }
}

/** Makes a call that no stop of the run cancels. */
function lasting<T>(call: () => Promise<T>): Promise<T> {
  return within(new CancellationScope({ cancellable: false }), call);
}

function lost(runId: string, why: string): SubworkflowResult {
  return { ok: false, canceled: false, json: '', message: `run ${runId} was lost: ${why}` };
}

function causeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? error.cause.message : error.message;
}
