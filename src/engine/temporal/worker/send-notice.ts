import type { WorkflowClient } from '@temporalio/client';
import { type RunState, stepNode, stepState } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import { shownFailures } from '#core/summary/summary.ts';
import { baseEnvironment } from '#environment/environment.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { RunLogs } from '#store/logs.ts';
import type { RunJournal, RunStore } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import type { AttemptHost } from '../../attempt/attempt-context.ts';
import { namedLocks } from '../../attempt/run-locks.ts';
import { StepRunner } from '../../attempt/step-runner.ts';
import { StepResults } from '../../driver/step-task.ts';
import type { FailedChild, Notify, RunRequest } from '../../engine.ts';
import { isAway } from '../client/mirror.ts';
import { createRunFiles, RunCopy, secretsOf } from '../client/run-copy.ts';
import { readStartedRun } from '../client/start-run.ts';
import type { EngineAccess } from '../connection.ts';
import type { Connected } from '../history.ts';
import type { EngineRun, EngineWarning, LockNames, LockNamesOrder, NoticeOrder, PrepareReport } from '../protocol.ts';

/** What a worker sends notices with. */
export type NoticeHost = Omit<AttemptHost, 'runWorkflow'> & {
  readonly notify: Notify;
  /** Opens a store for the copies of runs that a notice is about, whose files end with them. */
  readonly openStore: () => Pick<RunStore, 'create'>;
};

/** The run of a notice, and how it is read. `signal`: aborted, with a reason, when the run stops waiting. */
export type NoticeRun = {
  readonly run: EngineRun;
  readonly evaluated: PrepareReport['evaluated'];
  readonly access: EngineAccess<Connected>;
  readonly workflows: Pick<WorkflowClient, 'getHandle'>;
  readonly host: NoticeHost;
  readonly signal: AbortSignal;
};

/** The pause between two questions for events that no worker has answered with yet. */
const ASK_AGAIN_MS = 200;

/** A run as it was when a notice was asked for. `state`: unmasked; `shown`: masked. */
type Moment = { readonly state: RunState; readonly shown: RunState };

/** A copy of a run, which lasts as long as the notice. */
type Copied = { readonly copy: RunCopy; readonly journal: RunJournal; readonly secrets: RunSecrets };

/**
 * Sends the mails and notifications of a notice, with the view of the run that a run on this machine would have: its events
 * and the ends of its logs, read from the engine. Resolves to warnings.
 */
export async function sendNotice(order: NoticeOrder, own: NoticeRun): Promise<readonly EngineWarning[]> {
  const reader = new NoticeReader(own);
  try {
    return await reader.send(order);
  } finally {
    await reader.close();
  }
}

/** The copies of logs end with the notice: it must not name their paths. */
function withoutPaths({ file, streams, times }: RunLogs): RunLogs {
  return { file: (...of) => ({ ...file(...of), path: null }), streams, times };
}

/** What knows the variables of a run, without attempts. */
function runnerOf(
  request: RunRequest,
  own: Pick<NoticeRun, 'evaluated' | 'host'> &
    Pick<NoticeOrder, 'outputs'> & { readonly journal: RunJournal; readonly secrets: RunSecrets },
): StepRunner {
  const { evaluated, outputs, host, journal, secrets } = own;
  const processEnv = baseEnvironment(request.dotenv, host.processEnv);
  const tools = { ...host, processEnv, runWorkflow: () => Promise.reject(new Error('no step is run here')) };
  const runner = new StepRunner(tools, request, { files: journal, secrets, warn: () => {} });
  if (evaluated !== null) {
    runner.resume(evaluated);
    runner.set(outputs);
  }
  return runner;
}

/** The locks of an attempt, with the values of the variables in their names. */
export async function evaluateLockNames(
  { task, outputs }: LockNamesOrder,
  { run, evaluated, host }: Pick<NoticeRun, 'run' | 'evaluated' | 'host'>,
): Promise<LockNames> {
  const { processEnv } = host;
  const secrets = secretsOf(run, processEnv);
  const store = host.openStore();
  const journal = createRunFiles(run, secrets, { store, processEnv, url: run.engine, logStore: null });
  try {
    const scope = runnerOf(run.request, { evaluated, outputs, host, journal, secrets }).scopeOf(task);
    secrets.learn(outputs);
    return { locks: namedLocks(task.step.locks ?? [], scope, (text) => secrets.shared.mask(text) !== text) };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { problem: error.message };
  } finally {
    await journal.close();
  }
}

class NoticeReader {
  readonly #own: NoticeRun;
  readonly #store: Pick<RunStore, 'create'>;
  readonly #journals: RunJournal[] = [];

  constructor(own: NoticeRun) {
    this.#own = own;
    this.#store = own.host.openStore();
  }

  async send({ step, status, events, outputs }: NoticeOrder): Promise<readonly EngineWarning[]> {
    const { run, evaluated, host, signal } = this.#own;
    const { request } = run;
    let moment: Moment | null = null;
    let count = 0;
    const copied: Copied = this.#copy(run, (shown) => {
      count += 1;
      if (count === events) moment = { state: copied.copy.state, shown };
    });
    await this.#read(copied.copy, () => moment !== null);
    const { state, shown } = (moment as Moment | null) ?? {};
    // The run is gone, or does not wait any longer.
    if (state === undefined || shown === undefined) return [];
    const { secrets, journal } = copied;
    const runner = runnerOf(request, { evaluated, outputs, host, journal, secrets });
    const results = new StepResults(request.workflow, { logsOf: () => ({ stdout: null, stderr: null }) });
    const problems = await host.notify({
      step: step === null ? null : stepNode(state, step),
      status,
      state: shown,
      workflow: request.workflow,
      isMasked: secrets.isTextMasked,
      scope: runner.scope((name) => results.of(state, name)),
      mask: (text) => secrets.shared.mask(text),
      logs: withoutPaths(journal.logs),
      sources: request.sources,
      children: await this.#failedChildren(state),
      failedBefore: request.failedBefore === true,
      signal,
    });
    return (problems ?? []).map((message) => ({ step, message }));
  }

  /** Removes the copies. */
  async close(): Promise<void> {
    await Promise.all(this.#journals.map((journal) => journal.close()));
  }

  #copy(run: EngineRun, watch: (shown: RunState) => void): Copied {
    const { access, workflows, host } = this.#own;
    const { clock, processEnv } = host;
    const secrets = secretsOf(run, processEnv);
    const journal = createRunFiles(run, secrets, { store: this.#store, processEnv, url: run.engine, logStore: null });
    this.#journals.push(journal);
    const copy = new RunCopy({
      access,
      handle: workflows.getHandle(run.request.runId),
      run,
      secrets,
      journal,
      events: [],
      clock,
      watcher: (_, shown) => watch(shown),
      onFailure: (error) => {
        throw error;
      },
      undecided: () => {},
      asksAll: true,
    });
    return { copy, journal, secrets };
  }

  /** Reads a run until there is enough of it, or all, or the run stops waiting. */
  async #read(copy: RunCopy, isEnough: () => boolean): Promise<void> {
    const { host, signal } = this.#own;
    while (!isEnough() && !signal.aborted) {
      const found = await copy.catchUp().catch((error: unknown) => {
        if (isAway(error)) return null;
        throw error;
      });
      if (found === 'ended') return;
      if (!isEnough())
        await new Promise<void>((resolve) => {
          host.clock.setTimer(host.clock.now() + ASK_AGAIN_MS, resolve);
        });
    }
  }

  /** The failed child runs that a notice shows, by the names of their steps. */
  async #failedChildren(state: RunState): Promise<Map<string, FailedChild>> {
    const failed = new Map<string, FailedChild>();
    for (const { name } of shownFailures(summarize(state, () => null)).shown) {
      const { child } = stepState(state, name);
      const run = child === undefined ? null : await readStartedRun(this.#own.access, child);
      if (run !== null) failed.set(name, await this.#failedChild(run));
    }
    return failed;
  }

  async #failedChild(run: EngineRun): Promise<FailedChild> {
    const { copy, journal } = this.#copy(run, () => {});
    await this.#read(copy, () => false);
    const { sources } = run.request;
    const tails = new Map<string, readonly string[]>();
    for (const { name, attempts } of shownFailures(summarize(copy.shown, () => null)).shown) {
      if (attempts > 0) tails.set(name, journal.logs.tail({ step: name, attempt: attempts }));
    }
    return { state: copy.shown, sources, tails, children: await this.#failedChildren(copy.state) };
  }
}
