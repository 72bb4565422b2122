import { type ChildProcess, fork } from 'node:child_process';
import { given } from '#core/data/collections.ts';
import { buildGraph } from '#core/graph.ts';
import type { Outcome, RunInput } from '#core/run/run.ts';
import { initialRun, type RunState, stepNode } from '#core/run/run-state.ts';
import { expandText, lookupIn } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { Background } from '#engine/attempt/background.ts';
import { RunLocks } from '#engine/attempt/run-locks.ts';
import { createdEvent } from '#engine/driver/created-event.ts';
import { Driver, type DriverHost } from '#engine/driver/driver.ts';
import { attemptEnd } from '#engine/driver/step-task.ts';
import type { ActiveRun, FailedChild, RunHost, RunRequest, RunWatcher } from '#engine/engine.ts';
import type { LocalEngineOptions } from '#engine/local/engine-options.ts';
import { logDirectory } from '#engine/local/new-run.ts';
import { RunRecord } from '#engine/local/run-record.ts';
import { runSubworkflow } from '#engine/local/subworkflow.ts';
import { baseEnvironment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import { type AttemptSignals, EndSignal } from '#processes/end-signal.ts';
import type { RunJournal } from '#store/store.ts';
import { asData, type ChildEnd, type ChildRequest, type ToHost, ToldSecrets, type ToWorker } from './protocol.ts';

/** What the host needs. The options that are about attempts are unused here: each worker has its own. */
type LoopbackOptions = LocalEngineOptions & {
  /** The compiled `programs/worker.ts`. */
  readonly worker: string;
  /** Called with the worker of each run. */
  readonly onWorker?: (runId: string, worker: ChildProcess) => void;
};

/**
 * A host of runs for tests: it decides in this process, and makes the attempts of each run in another one. The two exchange
 * JSON only, so they could be on two machines that share files.
 */
export function createLoopbackHost(options: LoopbackOptions): Pick<RunHost, 'start'> {
  return {
    start: (request, watcher, family) => {
      const processEnv = baseEnvironment(request.dotenv, options.processEnv);
      const known = family instanceof ToldSecrets ? family : new ToldSecrets();
      const secrets = new RunSecrets(request, processEnv, known);
      const logDir = logDirectory(request.workflow, processEnv);
      const journal = options.store.create(secrets.snapshot(), { logDir });
      return new LoopbackRun(options, request, { journal, secrets, known, watcher }).active;
    },
  };
}

type RunParts = {
  readonly journal: RunJournal;
  readonly secrets: RunSecrets;
  /** Those of `secrets`. */
  readonly known: ToldSecrets;
  readonly watcher: RunWatcher;
};

/** One run: the host of its driver, without any attempt. */
class LoopbackRun {
  readonly active: ActiveRun;
  readonly #options: LoopbackOptions;
  readonly #request: RunRequest;
  readonly #parts: RunParts;
  readonly #record: RunRecord;
  readonly #driver: Driver;
  readonly #worker: ChildProcess;
  /** For the case that the worker dies. */
  readonly #background: Background;
  readonly #ordered = new Map<string, number>();
  readonly #children = new Map<string, AttemptSignals>();
  readonly #failedChildren = new Map<string, FailedChild>();
  #isPrepared = false;
  #cleanedUp = () => {};
  #resolve: (state: RunState) => void = () => {};
  #reject: (error: unknown) => void = () => {};
  /** Why there is no worker any more. */
  #loss: string | null = null;

  constructor(options: LoopbackOptions, request: RunRequest, parts: RunParts) {
    const { runId, workflow } = request;
    const { journal, secrets, known } = parts;
    this.#options = options;
    this.#request = request;
    this.#parts = parts;
    const policies = request.onApproval === undefined ? workflow : { ...workflow, isUnattended: true as const };
    const onFailure = (error: Error) =>
      this.#driver.cancel({ reason: 'storage', message: error.message, force: false });
    this.#record = new RunRecord(initialRun(buildGraph(workflow), policies), { journal, secrets, onFailure });
    this.#background = new Background(options.background, { runId, logs: journal.logs.directory });
    this.#driver = new Driver(request, this.#hosting());
    this.#worker = fork(options.worker, [], { env: { ...options.processEnv }, execArgv: [], serialization: 'json' });
    options.onWorker?.(runId, this.#worker);
    this.active = {
      runId,
      workflow,
      isMasked: secrets.isTextMasked,
      logs: journal.logs,
      state: () => this.#record.shown,
      result: () => this.#record.state,
      failedChildren: this.#failedChildren,
      cancel: (asked) => this.#driver.cancel(asked),
      answer: (answer) => this.#driver.answer(answer),
      finished: new Promise((resolve, reject) => {
        this.#resolve = resolve;
        this.#reject = reject;
      }),
    };
    const at = options.clock.now();
    this.#driver.note(createdEvent(request, at));
    this.#driver.note({ type: 'run.owned', at, owner: options.owner });
    const endTelling = known.onValue((value) => this.#send({ type: 'secret', value }));
    this.#worker.on('message', (message: ToHost) => this.#receive(message));
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', (code, signal) => {
      endTelling();
      this.#guard(this.#lose(`the worker ended: ${signal ?? `exit ${code}`}`));
    });
    const files = { journal: journal.path, logs: journal.logs.directory, scratch: journal.scratch() };
    this.#send({ type: 'prepare', request, files, secrets: [...known.values] });
  }

  /** A worker that does not get it has died, which its exit tells. */
  #send(message: ToWorker): void {
    if (this.#worker.connected) this.#worker.send(asData(message), () => {});
  }

  #receive(message: ToHost): void {
    switch (message.type) {
      case 'prepared':
        this.#isPrepared = true;
        this.#driver.start(message.prepared);
        break;
      case 'input':
        this.#post(message.input);
        break;
      case 'warning':
        this.#warn(message.step, message.message);
        break;
      case 'secret':
        this.#parts.known.add(message.value);
        break;
      case 'child':
        this.#guard(this.#runChild(message));
        break;
      case 'end-child':
        this.#children.get(message.step)?.[message.how === 'stop' ? 'signal' : 'kill'].abort('stop');
        break;
      case 'cleaned-up':
        this.#cleanedUp();
        break;
    }
  }

  #post(input: RunInput): void {
    if (input.type === 'attempt-started' && input.process !== null) this.#background.add(input.step, input.process);
    if (input.type === 'attempt-ended' || input.type === 'items-read') {
      this.#ordered.delete(input.step);
      this.#background.ended(input.step, input.at);
    }
    this.#driver.post(input);
  }

  #hosting(): DriverHost {
    const { clock } = this.#options;
    const { logs, artifacts } = this.#parts.journal;
    return {
      clock,
      state: () => this.#record.state,
      record: (events, run) => this.#record.add(events, run),
      noticed: () => null,
      decided: (stored) => {
        for (const event of stored) this.#parts.watcher(event, this.#record.shown);
      },
      ahead: () => 0,
      cleanUp: () => this.#cleanUp(),
      logsOf: (step, attempt) => ({
        stdout: logs.pathOf(step, attempt, 'stdout'),
        stderr: logs.pathOf(step, attempt, 'stderr'),
      }),
      artifactsOf: (of) => (artifacts && 'step' in of ? artifacts.pathOf(of.step) : null),
      fail: (error) => this.#fail(error),
      orders: {
        attempt: (task) => {
          this.#ordered.set(task.step.name, task.number);
          if (this.#loss === null) this.#send({ type: 'attempt', task });
          else this.#reportLost(this.#loss);
        },
        end: (step) => this.#send({ type: 'end', step }),
        stop: (fanOut) => this.#send({ type: 'stop', ...given({ fanOut }) }),
        stopPreparation: () => this.#send({ type: 'stop-preparation' }),
        kill: () => this.#send({ type: 'kill' }),
        set: (outputs) => this.#send({ type: 'set', outputs }),
        resultRecorded: () => {},
        notify: () => {},
        finish: () => this.#guard(this.#finish()),
      },
    };
  }

  /** Starts the child run of a step, with a worker of its own. */
  async #runChild({ step, attempt: number, asked, variables }: ChildRequest): Promise<void> {
    const { secrets, known } = this.#parts;
    const signals = { signal: new EndSignal(), kill: new EndSignal() };
    this.#children.set(step, signals);
    const attempt: Parameters<typeof runSubworkflow>[3] = {
      ...signals,
      runId: this.active.runId,
      step: stepNode(this.#record.state, step),
      number,
      expand: (text) => expandText(text, lookupIn(variables)),
      holdsSecret: (text) => secrets.shared.mask(text) !== text,
      started: (_, child) => this.#send({ type: 'child-started', step, ...given({ child }) }),
      write: (_, text) => this.#send({ type: 'child-line', step, text }),
    };
    const keepFailed = (name: string, child: FailedChild) => this.#failedChildren.set(name, child);
    const locks = new RunLocks(this.#options, [], (input) => this.#driver.post(input));
    const enterQueue: RunLocks['enterQueue'] = (...waiting) => locks.enterQueue(...waiting);
    const host = createLoopbackHost(this.#options);
    const options = { ...this.#options, host, family: known, keepFailed, enterQueue, locksAround: () => [] };
    const end = await runSubworkflow(options, this.#request, asked, attempt).catch((error): ChildEnd => {
      if (error instanceof PathProblem) return { problem: error.message };
      throw error;
    });
    this.#children.delete(step);
    this.#send({ type: 'child-ended', step, end });
  }

  #cleanUp(): Promise<void> | null {
    if (this.#loss !== null) return null;
    const { graph, cancellation } = this.#record.state;
    const spared = graph.nodes.flatMap(({ name, leaveBackground }) => (leaveBackground ? [name] : []));
    this.#send({ type: 'clean-up', spared, force: cancellation?.force === true });
    return new Promise((resolve) => {
      this.#cleanedUp = resolve;
    });
  }

  /** The worker has ended, perhaps too early: ends its programs, then reports its attempts as lost. */
  async #lose(message: string): Promise<void> {
    for (const { kill } of this.#children.values()) kill.abort('stop');
    if (this.#ordered.size > 0) await this.#background.end(new Set(), 0);
    this.#loss = message;
    this.#reportLost(message);
    if (!this.#isPrepared) this.#driver.start({ problem: message });
    this.#cleanedUp();
  }

  #reportLost(message: string): void {
    const outcome: Outcome = { status: 'failed', reason: 'lost', message, exitCode: null, signal: null, outputs: {} };
    for (const [step, attempt] of [...this.#ordered]) {
      this.#post(attemptEnd({ outcome, facts: {} }, { at: this.#options.clock.now(), step, attempt }));
    }
  }

  #warn(step: string | null, message: string): void {
    this.#driver.note({ type: 'run.warned', at: this.#options.clock.now(), step, message });
  }

  async #finish(): Promise<void> {
    this.#driver.timers.clear();
    await this.#record.close();
    if (this.#loss === null) {
      const ended = new Promise((resolve) => this.#worker.once('exit', resolve));
      this.#worker.disconnect();
      await ended;
    }
    this.#resolve(this.#record.shown);
  }

  #guard(work: Promise<void>): void {
    work.catch((error: unknown) => this.#fail(error));
  }

  #fail(error: unknown): void {
    this.#worker.kill('SIGKILL');
    this.#driver.timers.clear();
    this.#reject(error);
  }
}
