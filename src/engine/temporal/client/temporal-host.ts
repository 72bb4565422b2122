import type { Client, Connection, WorkflowHandle } from '@temporalio/client';
import type { RunState } from '#core/run/run-state.ts';
import { selectingSteps } from '#core/selectors.ts';
import type { RunJournal } from '#store/store.ts';
import { failedAs, messageOf, WfError } from '#system/errors.ts';
import { nextTurn } from '#system/turns.ts';
import type { ActiveRun, FailedChild, GivenAnswer, ParentStep, RunHost, RunRequest, RunWatcher } from '../../engine.ts';
import type { LocalEngineOptions } from '../../local/engine-options.ts';
import { connectClient, type EngineAccess, type EngineSettings, packages } from '../connection.ts';
import { type EngineRun, NAMES, type StopOrder } from '../protocol.ts';
import { refuseForeign, servingWorkers } from '../workers.ts';
import { type KnownWorkflowTools, withKnownWorkflows } from './known-workflows.ts';
import type { DecisionFailure } from './mirror.ts';
import { createRunFiles, RunCopy, secretsOf } from './run-copy.ts';
import { runWaits } from './run-waits.ts';
import { ShownChildren } from './shown-children.ts';
import { type EngineRunParts, engineRun, startRun } from './start-run.ts';
import { refuseUnsupported } from './unsupported.ts';

/** What the host needs of this machine: where a run is stored. */
export type TemporalHostOptions = Pick<LocalEngineOptions, 'store' | 'clock' | 'processEnv' | 'onChild'> & {
  readonly known: KnownWorkflowTools;
  readonly settings: EngineSettings;
  readonly lostAfterMs: number;
  readonly release: string;
  /** See `createRunFiles`. */
  readonly logStore: string | null;
  /** See `EngineRunParts`. */
  readonly queueSize: (name: string) => number;
  readonly pools: EngineRunParts['pools'];
};

/** A host of runs whose work is done by workers. `complete`: see `withKnownWorkflows`; `close` ends its connection. */
export type TemporalHost = Pick<RunHost, 'start'> & {
  readonly complete: (request: RunRequest) => Promise<RunRequest>;
  readonly close: () => Promise<void>;
};

export type { EngineSettings };

/** A run that nothing happens in for so long may have no worker. */
const NO_WORKER_AFTER_MS = 2000;
const LOOK_AGAIN_MS = 30_000;
/** A step may need labels at any time. */
const LOOK_FOR_LABELS_MS = 5000;
/** A request to stop that the engine has not taken by then ends this process, and not the run. */
const STOP_PATIENCE_MS = 5000;

/** Connects to the engine. Throws a `WfError`: `usage`, `unreachable`. */
export async function openTemporalHost(options: TemporalHostOptions): Promise<TemporalHost> {
  const access = await connectClient(options.settings);
  try {
    refuseForeign(await servingWorkers(access), access.keyId);
  } catch (error) {
    await access.connection.close();
    if (error instanceof WfError) throw error;
    throw new WfError('unreachable', `the engine does not answer about its queues: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const { Client } = await packages.client();
  const { connection, namespace, dataConverter } = access;
  const client = new Client({ connection, namespace, dataConverter });
  const tools: Tools = { ...options, access, client, left: new AbortController() };
  return {
    complete: (request) => withKnownWorkflows(request, options.known),
    start: (request, watcher) => {
      refuseUnsupported(request.workflow, options.known);
      const own = { engine: options.settings.url, at: options.clock.now(), keyId: access.keyId };
      return new EngineRunInHand(tools, engineRun(request, { ...tools, ...own }), { watcher, isNew: true }).active;
    },
    close: () => access.connection.close(),
  };
}

type Tools = TemporalHostOptions & {
  readonly access: EngineAccess<Connection>;
  readonly client: Client;
  /** Aborted when the run is left to its engine. */
  readonly left: AbortController;
};

/** A run of the engine that this process started, or a child run of it: passes requests on, and copies what happens. */
class EngineRunInHand {
  readonly active: ActiveRun;
  readonly #tools: Tools;
  readonly #run: EngineRun;
  readonly #watcher: RunWatcher;
  readonly #journal: RunJournal;
  readonly #copy: RunCopy;
  readonly #handle: WorkflowHandle;
  readonly #accepted: Promise<boolean>;
  readonly #failedChildren = new Map<string, FailedChild>();
  #problem: WfError | null = null;
  #refusal: WfError | null = null;
  readonly #isNew: boolean;
  readonly #children: ShownChildren;
  #resolve: (state: RunState) => void = () => {};
  #reject: (error: unknown) => void = () => {};

  constructor(tools: Tools, run: EngineRun, own: { readonly watcher: RunWatcher; readonly isNew: boolean }) {
    const { workflow, runId } = run.request;
    const { settings, clock, access } = tools;
    this.#tools = tools;
    this.#run = run;
    this.#watcher = own.watcher;
    this.#isNew = own.isNew;
    this.#children = new ShownChildren({
      access,
      watcher: own.watcher,
      start: (parent, child) => this.#startChild(parent, child),
      fail: (error) => this.#reject(error),
    });
    const secrets = secretsOf(this.#run, tools.processEnv);
    const journal = createRunFiles(this.#run, secrets, { ...tools, url: settings.url });
    this.#journal = journal;
    this.#handle = tools.client.workflow.getHandle(runId);
    this.active = {
      runId,
      workflow,
      isMasked: secrets.isTextMasked,
      logs: journal.logs,
      state: () => this.#copy.shown,
      result: () => this.#copy.state,
      failedChildren: this.#failedChildren,
      cancel: (order) => this.#guard(this.#stop(order)),
      answer: (answer) => this.#guard(this.#answer(answer)),
      finished: new Promise((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      }),
    };
    this.#copy = new RunCopy({
      access: tools.access,
      secrets,
      journal,
      handle: this.#handle,
      run: this.#run,
      events: [],
      clock,
      watcher: (event, state) => this.#children.watch(event, state),
      onFailure: (error) => this.#storageFailed(error),
      undecided: (failure) => this.#guard(this.#undecided(failure)),
    });
    this.#accepted = own.isNew ? this.#start() : Promise.resolve(true);
    this.#guard(this.#accepted.then((isAccepted) => (isAccepted ? this.#follow() : undefined)));
  }

  /** Resolves to whether the engine has taken the run. */
  async #start(): Promise<boolean> {
    const problem = await startRun(this.#tools.client, this.#run).then(
      (isNew) => (isNew ? null : 'it has a run with this id'),
      messageOf,
    );
    if (problem === null) return true;
    this.#copy.lose(`the engine did not take the run: ${problem}`);
    await this.#end();
    return false;
  }

  async #follow(): Promise<void> {
    const stop = ({ by, force }: { readonly by: string; readonly force: boolean }) =>
      this.active.cancel({ reason: 'stop', message: `stopped by ${by}`, force });
    await this.#journal.listen({ stop, answer: this.active.answer, gone: (error) => this.#storageFailed(error) });
    const endLooking = this.#isNew ? this.#lookForWorkers() : () => {};
    try {
      if (await this.#copy.follow(this.#tools.left.signal)) await this.#end();
      else await this.#leave();
    } finally {
      endLooking();
    }
  }

  /** A run that no worker can execute has not begun: it is ended, and refused. */
  async #undecided({ message, isFirst }: DecisionFailure): Promise<void> {
    this.#warn(`a worker cannot continue the run, which waits for another one: ${message}`);
    if (!isFirst || !this.#isNew) return;
    const { access } = this.#tools;
    try {
      refuseForeign(await servingWorkers(access), access.keyId);
    } catch (error) {
      if (!(error instanceof WfError)) return;
      this.#refusal = error;
      await this.#handle.terminate(error.message);
    }
  }

  async #leave(): Promise<void> {
    await this.#children.end();
    await this.#copy.handBack();
    this.#reject(this.#refusal);
  }

  async #end(): Promise<void> {
    await this.#children.end();
    const left = await this.#copy.close();
    if (left !== null) this.#warn(left);
    if (this.#refusal === null) this.#resolve(this.#copy.shown);
    else this.#reject(this.#refusal);
  }

  /** Copies and shows a child run; null if another process copies it. */
  #startChild(parent: ParentStep, run: EngineRun): Promise<unknown> | null {
    const { request } = run;
    const watcher = this.#tools.onChild?.(parent, request) ?? null;
    const tails = new Map<string, readonly string[]>();
    try {
      const child: ActiveRun = new EngineRunInHand(this.#tools, run, {
        isNew: false,
        watcher: (event, state) => {
          const isFailure = event.type === 'step.finished' && event.status === 'failed' && event.attempt > 0;
          // A run that is not stored removes its logs when it ends.
          if (isFailure) tails.set(event.step, child.logs.tail(event));
          watcher?.watch(event, state);
        },
      }).active;
      watcher?.attach(child);
      const keepFailed = (state: RunState) => {
        if (state.status !== 'failed') return;
        const { sources } = request;
        this.#failedChildren.set(parent.step, { state, sources, tails, children: child.failedChildren });
      };
      return child.finished.then(keepFailed, () => {});
    } catch (error) {
      if (failedAs(error, 'run-active', 'run-exists')) return null;
      throw error;
    }
  }

  /** Shown only: the engine does not know it. */
  #warn(message: string): void {
    const at = this.#tools.clock.now();
    this.#watcher({ type: 'run.warned', at, step: null, message, seq: 0 }, this.#copy.shown);
  }

  /** Says what the run waits for, see `runWaits`. */
  #lookForWorkers(): () => void {
    const { clock } = this.#tools;
    const againMs = selectingSteps(this.#run.request.workflow).length === 0 ? LOOK_AGAIN_MS : LOOK_FOR_LABELS_MS;
    let said = { text: '', at: 0 };
    let cancel = () => {};
    let isOver = false;
    const look = (afterMs: number) => {
      if (isOver) return;
      cancel = clock.setTimer(clock.now() + afterMs, () => {
        const asked = runWaits(this.#tools.access, this.active.runId).catch(() => []);
        void asked.then((waits) => {
          const text = waits.join('; ');
          const isRepeated = text === said.text && clock.now() - said.at < LOOK_AGAIN_MS;
          if (text !== '' && !isRepeated) this.#warn(text);
          if (!isRepeated) said = { text, at: clock.now() };
          look(againMs);
        });
      });
    };
    look(NO_WORKER_AFTER_MS);
    return () => {
      isOver = true;
      cancel();
    };
  }

  async #answer(answer: GivenAnswer): Promise<void> {
    const problem = await this.#signal(NAMES.answer, answer);
    if (problem !== null) this.#warn(`the engine did not take the answer: ${problem}`);
  }

  /** A user who stops the command does not want to wait for an engine that is away: the run is left to it. */
  async #stop(order: StopOrder): Promise<void> {
    const { clock, settings } = this.#tools;
    let endTimer = () => {};
    const tooLate = new Promise<string>((resolve) => {
      endTimer = clock.setTimer(clock.now() + STOP_PATIENCE_MS, () =>
        resolve(`no answer in ${STOP_PATIENCE_MS / 1000}s`),
      );
    });
    const problem = await Promise.race([this.#signal(NAMES.stop, order), tooLate]);
    endTimer();
    if (problem === null) return;
    this.#refusal = new WfError(
      'unreachable',
      `the engine ${settings.url} did not take the request to stop: ${problem}`,
      {
        help: `the run may continue there: when the engine answers, wf stop ${this.active.runId}`,
      },
    );
    this.#tools.left.abort();
  }

  /** Resolves to why the engine did not take a message, or null. */
  async #signal(name: string, order: StopOrder | GivenAnswer): Promise<string | null> {
    // The disk may refuse what is written before the run is started.
    await nextTurn();
    if (!(await this.#accepted)) return null;
    try {
      await this.#handle.signal(name, order);
    } catch (error) {
      // A run that has ended needs no message.
      const hasEnded = error instanceof Error && error.name === 'WorkflowNotFoundError';
      return hasEnded ? null : messageOf(error);
    }
    return null;
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
