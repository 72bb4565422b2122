import type { Client, Connection, WorkflowHandle } from '@temporalio/client';
import { buildGraph } from '#core/graph.ts';
import { evolve } from '#core/run/evolve.ts';
import type { RunEvent } from '#core/run/run.ts';
import { initialRun, type RunState } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import { baseEnvironment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { RunJournal } from '#store/store.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { createdEvent } from '../../driver/created-event.ts';
import type { ActiveRun, RunHost, RunRequest, RunWatcher } from '../../engine.ts';
import type { LocalEngineOptions } from '../../local/engine-options.ts';
import { logDirectory } from '../../local/new-run.ts';
import { RunRecord } from '../../local/run-record.ts';
import { connectClient, type EngineAccess, type EngineSettings, packages } from '../connection.ts';
import { DEFAULT_QUEUE, type EngineRun, NAMES, RUN_TYPE, type StopOrder } from '../protocol.ts';
import { refuseForeign, servingWorkers } from '../workers.ts';
import { type DecisionFailure, Mirror } from './mirror.ts';
import { refuseUnsupported } from './unsupported.ts';

/** What the host needs of this machine: where a run is stored. */
export type TemporalHostOptions = Pick<LocalEngineOptions, 'store' | 'clock' | 'processEnv'> & {
  readonly settings: EngineSettings;
  readonly lostAfterMs: number;
};

/** A host of runs whose work is done by workers; `close` ends its connection. */
export type TemporalHost = Pick<RunHost, 'start'> & { readonly close: () => Promise<void> };

export type { EngineSettings };

/** A run that nothing happens in for so long may have no worker. */
const NO_WORKER_AFTER_MS = 2000;
const LOOK_AGAIN_MS = 30_000;

/** Connects to the engine. Throws a `WfError`: `usage`, `unreachable`. */
export async function openTemporalHost(options: TemporalHostOptions): Promise<TemporalHost> {
  const access = await connectClient(options.settings);
  try {
    refuseForeign(await servingWorkers(access), access.keyId);
  } catch (error) {
    await access.connection.close();
    throw error;
  }
  const { Client } = await packages.client();
  const { connection, namespace, dataConverter } = access;
  const client = new Client({ connection, namespace, dataConverter });
  return {
    start: (request, watcher) => new EngineRunInHand({ ...options, access, client }, request, watcher).active,
    close: () => access.connection.close(),
  };
}

type Tools = TemporalHostOptions & { readonly access: EngineAccess<Connection>; readonly client: Client };

/** A run of the engine that this process started: passes requests on, and copies what happens. */
class EngineRunInHand {
  readonly active: ActiveRun;
  readonly #tools: Tools;
  readonly #request: RunRequest;
  readonly #watcher: RunWatcher;
  readonly #journal: RunJournal;
  readonly #secrets: RunSecrets;
  readonly #record: RunRecord;
  readonly #handle: WorkflowHandle;
  readonly #accepted: Promise<boolean>;
  #recorded = 0;
  #problem: WfError | null = null;
  #refusal: WfError | null = null;
  #resolve: (state: RunState) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(tools: Tools, request: RunRequest, watcher: RunWatcher) {
    const { workflow, onApproval, runId } = request;
    refuseUnsupported(workflow);
    const processEnv = baseEnvironment(request.dotenv, tools.processEnv);
    this.#tools = tools;
    this.#request = request;
    this.#watcher = watcher;
    this.#secrets = new RunSecrets(request, processEnv);
    const logDir = logDirectory(workflow, processEnv);
    this.#journal = tools.store.create(this.#secrets.snapshot(), { logDir });
    const policies = onApproval === undefined ? workflow : { ...workflow, isUnattended: true as const };
    this.#record = new RunRecord(initialRun(buildGraph(workflow), policies), {
      journal: this.#journal,
      secrets: this.#secrets,
      onFailure: (error) => this.#storageFailed(error),
    });
    this.#handle = tools.client.workflow.getHandle(runId);
    this.active = {
      runId,
      workflow,
      isMasked: this.#secrets.isTextMasked,
      logs: this.#journal.logs,
      state: () => this.#record.shown,
      result: () => this.#record.state,
      failedChildren: new Map(),
      cancel: (order) => this.#guard(this.#accepted.then(() => this.#signal(NAMES.stop, order))),
      answer: (answer) => this.#guard(this.#accepted.then(() => this.#signal(NAMES.answer, answer))),
      finished: new Promise((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      }),
    };
    this.#accepted = this.#start();
    this.#guard(this.#accepted.then((isAccepted) => (isAccepted ? this.#follow() : undefined)));
  }

  /** Resolves to whether the engine has taken the run. */
  async #start(): Promise<boolean> {
    const { client, settings, lostAfterMs } = this.#tools;
    const run: EngineRun = { request: this.#request, engine: settings.url, lostAfterMs };
    const { runId, workflow } = this.#request;
    try {
      await client.workflow.start(RUN_TYPE, {
        workflowId: runId,
        taskQueue: DEFAULT_QUEUE,
        args: [run],
        memo: { name: workflow.name, trigger: this.#request.trigger },
        workflowIdReusePolicy: 'REJECT_DUPLICATE',
        workflowTaskTimeout: '10 seconds',
      });
      return true;
    } catch (error) {
      await this.#end(`the engine did not take the run: ${messageOf(error)}`);
      return false;
    }
  }

  async #follow(): Promise<void> {
    const { access } = this.#tools;
    const stop = ({ by, force }: { readonly by: string; readonly force: boolean }) =>
      this.active.cancel({ reason: 'stop', message: `stopped by ${by}`, force });
    await this.#journal.listen({ stop, answer: this.active.answer, gone: (error) => this.#storageFailed(error) });
    const mirror = new Mirror({
      access,
      handle: this.#handle,
      logs: this.#journal.logs,
      record: (events, secrets) => this.#keep(events, secrets),
      recorded: () => this.#recorded,
      undecided: (failure) => this.#guard(this.#undecided(failure)),
    });
    const endLooking = this.#lookForWorkers();
    try {
      const { problem } = await mirror.follow();
      await this.#end(problem);
    } finally {
      endLooking();
    }
  }

  /** A run that no worker can execute has not begun: it is ended, and refused. */
  async #undecided({ message, isFirst }: DecisionFailure): Promise<void> {
    this.#warn(`a worker cannot continue the run, which waits for another one: ${message}`);
    if (!isFirst) return;
    const { access } = this.#tools;
    try {
      refuseForeign(await servingWorkers(access), access.keyId);
    } catch (error) {
      if (!(error instanceof WfError)) return;
      this.#refusal = error;
      await this.#handle.terminate(error.message);
    }
  }

  #keep(events: readonly RunEvent[], secrets: readonly string[]): void {
    for (const secret of secrets) this.#secrets.shared.add(secret);
    this.#recorded += events.length;
    for (const event of events) {
      const { stored } = this.#record.add([event], evolve(this.#record.state, event));
      for (const one of stored) this.#watcher(one, this.#record.shown);
    }
  }

  /** Records the end if the engine did not, and closes the journal. */
  async #end(problem: string | null): Promise<void> {
    if (problem !== null) this.#lose(problem);
    const left = await this.#record.close();
    if (left !== null) this.#warn(left);
    if (this.#refusal === null) this.#resolve(this.#record.shown);
    else this.#reject(this.#refusal);
  }

  #lose(message: string): void {
    const at = this.#tools.clock.now();
    if (this.#recorded === 0) this.#keep([createdEvent(this.#request, at)], []);
    this.#keep(transition(this.#record.state, { type: 'lost', at, message }).events, []);
  }

  /** Shown only: the engine does not know it. */
  #warn(message: string): void {
    const at = this.#tools.clock.now();
    this.#watcher({ type: 'run.warned', at, step: null, message, seq: 0 }, this.#record.shown);
  }

  /** Says so if no worker takes the work. */
  #lookForWorkers(): () => void {
    const { clock } = this.#tools;
    let cancel = () => {};
    const look = (afterMs: number) => {
      cancel = clock.setTimer(clock.now() + afterMs, () => {
        void this.#hasWorker().then((has) => {
          if (!has) this.#warn(`no worker serves the queue "${DEFAULT_QUEUE}" of the engine: start one with wf worker`);
          look(LOOK_AGAIN_MS);
        });
      });
    };
    look(NO_WORKER_AFTER_MS);
    return () => cancel();
  }

  async #hasWorker(): Promise<boolean> {
    const workers = await servingWorkers(this.#tools.access).catch(() => null);
    return workers === null || workers.length > 0;
  }

  async #signal(name: string, order: StopOrder | Parameters<ActiveRun['answer']>[0]): Promise<void> {
    try {
      await this.#handle.signal(name, order);
    } catch (error) {
      // The run has ended, or its engine is away: then the user asks again.
      const hasEnded = error instanceof Error && error.name === 'WorkflowNotFoundError';
      if (!hasEnded) this.#warn(`the engine did not take the request: ${messageOf(error)}`);
    }
  }

  #storageFailed(error: WfError): void {
    if (this.#problem !== null) return;
    this.#problem = error;
    this.active.cancel({ reason: 'storage', message: error.message, force: false });
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#reject(error));
  }
}
