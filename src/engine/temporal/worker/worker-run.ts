import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { given } from '#core/data/collections.ts';
import { failed } from '#core/run/outcome.ts';
import type { RunInput } from '#core/run/run.ts';
import { Secrets } from '#core/secrets/secrets.ts';
import type { Workflow } from '#core/workflow.ts';
import { baseEnvironment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { Attempt, SubworkflowRequest, SubworkflowResult } from '#executors/executor.ts';
import type { AttemptSignals, EndSignal } from '#processes/end-signal.ts';
import type { LogStore } from '#store/logs.ts';
import type { ArtifactStore } from '#store/store.ts';
import { messageOf, WfError } from '#system/errors.ts';
import type { AttemptHost } from '../../attempt/attempt-context.ts';
import { Background } from '../../attempt/background.ts';
import { MadeAttempts } from '../../attempt/made-attempts.ts';
import { RunningAttempts } from '../../attempt/running-attempts.ts';
import { StepRunner } from '../../attempt/step-runner.ts';
import { takenOver } from '../../attempt/take-over.ts';
import { childLine, graceOf, knownWorkflow } from '../../driver/child-run.ts';
import { type AttemptReport, attemptEnd, notStarted, type StepTask } from '../../driver/step-task.ts';
import type { BackgroundProcesses, RunRequest } from '../../engine.ts';
import {
  type AttemptEndReport,
  type AttemptOrder,
  type AttemptProgress,
  type ChildEnd,
  type ChildReport,
  type ChildStart,
  type CleanUpOrder,
  type EngineRun,
  type EngineWarning,
  lostOutcome,
  type PrepareReport,
} from '../protocol.ts';
import { AttemptLogs, keptProblem, wasKilled, withoutLarge } from './attempt-report.ts';
import { type ChildSearch, findChild, taskAfterChild } from './child-search.ts';
import { type GuardReports, noteDaemons, noteSpared } from './guard.ts';
import type { LogShipper } from './log-shipper.ts';
import { withArtifacts } from './placed-task.ts';
import { namesOfRun } from './run-names.ts';

/** What a worker makes attempts with. */
export type WorkerHost = Omit<AttemptHost, 'runWorkflow'> &
  ChildSearch & {
    readonly background: BackgroundProcesses;
    readonly openLogs: (directory: string, workflow: Workflow) => LogStore;
    /** Opens the artifacts of a run in the store of all machines. Absent: this worker has none, or one that keeps logs only. */
    readonly openArtifacts?: (workflow: string, runId: string) => ArtifactStore;
  };

/** How an attempt is reached while it runs. */
export type AttemptControl = {
  /** Called when the attempt has begun, with how to end it; resolves to false if it must not begin. */
  readonly begin: (ends: { readonly stop: () => void; readonly kill: () => void }) => Promise<boolean>;
  /** Whether the attempt may have been given to another worker. */
  readonly isLost: () => boolean;
  /** Sends what came of it so far: once, if it runs for long, and when a service is ready. Rejects if that did not arrive. */
  readonly progress: (progress: AttemptProgress) => Promise<void>;
};

/** An attempt reports earlier than at its end if it runs for so long. */
const PROGRESS_AFTER_MS = 1000;
/** When it sends again that a service is ready. */
const READY_AGAIN_MS = 500;

/** Collects the values that become secrets, for those who mask the run elsewhere. */
class LearnedSecrets extends Secrets {
  readonly #fresh = new Set<string>();

  override add(value: string): boolean {
    const canBeMasked = super.add(value);
    if (value !== '' && canBeMasked) this.#fresh.add(value);
    return canBeMasked;
  }

  /** All of them: a report may be lost. */
  get values(): readonly string[] {
    return [...this.#fresh];
  }
}

/** The attempts of one run on this worker, in a private directory. */
export class WorkerRun {
  readonly #request: RunRequest;
  readonly #runId: string;
  readonly #definition: Workflow;
  readonly #worker: string;
  readonly #host: WorkerHost;
  readonly #directory: string;
  readonly #guard: GuardReports;
  readonly #graceMs: number;
  readonly #known = new LearnedSecrets();
  readonly #secrets: RunSecrets;
  readonly #logs: LogStore;
  readonly #artifacts: ArtifactStore | undefined;
  readonly #attemptLogs: AttemptLogs;
  readonly #background: Background;
  readonly #running: RunningAttempts;
  readonly #runner: StepRunner;
  readonly #made: MadeAttempts;
  /** What running attempts reported, by step. */
  readonly #inputs = new Map<string, RunInput[]>();
  /** Called when the service of a step is ready. */
  readonly #onReady = new Map<string, () => void>();
  /** Resolves when the attempt at a step has ended here. */
  readonly #attempts = new Map<string, Promise<unknown>>();
  /** The child runs that attempts ask for, and those that have ended, by step. */
  readonly #starts = new Map<string, ChildStart>();
  readonly #ends = new Map<string, ChildEnd>();
  /** Steps that have ended here, and whose processes are left alone. */
  readonly #spared = new Set<string>();
  /** The Docker daemons with containers of the run. */
  readonly #daemons = new Set<string>();
  #warnings: EngineWarning[] = [];
  #isReady = false;

  constructor(
    { request, secrets = [] }: EngineRun,
    own: {
      readonly worker: string;
      readonly host: WorkerHost;
      readonly directory: string;
      readonly guard: GuardReports;
      readonly shipper: LogShipper | null;
    },
  ) {
    const { runId } = request;
    const { host, directory } = own;
    this.#request = request;
    this.#runId = runId;
    this.#definition = request.workflow;
    this.#worker = own.worker;
    this.#host = host;
    this.#directory = directory;
    this.#guard = own.guard;
    const [logs, work] = [join(directory, 'logs'), join(directory, 'work')];
    for (const path of [logs, work, this.#scratch]) mkdirSync(path, { recursive: true, mode: 0o700 });
    const mine = { ...request, workflow: { ...request.workflow, dir: work } };
    const processEnv = baseEnvironment(request.dotenv, host.processEnv);
    this.#graceMs = graceOf(request);
    for (const secret of secrets) this.#known.add(secret);
    this.#secrets = new RunSecrets(mine, processEnv, this.#known);
    this.#logs = host.openLogs(logs, mine.workflow);
    this.#artifacts = host.openArtifacts?.(request.workflow.name, runId);
    const { name: workflow } = request.workflow;
    const { worker, shipper } = own;
    const keep = (warning: EngineWarning) => void this.#warnings.push(warning);
    this.#attemptLogs = new AttemptLogs({ runId, workflow, worker, directory, logs: this.#logs, shipper, warn: keep });
    const mark = { runId, logs };
    this.#background = new Background(host.background, mark);
    this.#guard.enter(mark);
    this.#running = new RunningAttempts(host.clock, this.#graceMs);
    const warn = (step: string | null, message: string) => keep({ step, message });
    const runWorkflow: AttemptHost['runWorkflow'] = (asked, attempt) => this.#runWorkflow(asked, attempt);
    this.#runner = new StepRunner({ ...host, processEnv, runWorkflow }, mine, {
      files: { path: null, logs: this.#logs, scratch: () => this.#scratch, ...given({ artifacts: this.#artifacts }) },
      secrets: this.#secrets,
      warn,
    });
    this.#made = new MadeAttempts({
      clock: host.clock,
      graceMs: this.#graceMs,
      secrets: this.#secrets,
      runner: this.#runner,
      running: this.#running,
      background: this.#background,
      post: (input) => this.#take(input),
      warn,
    });
    this.#secrets.warnOfShort((message) => warn(null, message));
  }

  get #scratch(): string {
    return join(this.#directory, 'scratch');
  }

  /** Evaluates the run. */
  async prepare(signal: EndSignal): Promise<PrepareReport> {
    const prepared = await this.#runner.prepare(signal, this.#host.clock.now());
    this.#isReady = true;
    const { evaluated } = this.#runner;
    if (evaluated === null) return { ...this.#findings(), prepared, evaluated };
    const scope = this.#runner.scope(() => undefined);
    const named = namesOfRun(this.#definition, scope, (text) => this.#secrets.shared.mask(text) !== text);
    if ('problem' in named) return { ...this.#findings(), prepared: named, evaluated: null };
    const restored = this.#takenOver();
    if ('problem' in restored) return { ...this.#findings(), prepared: restored, evaluated: null };
    return { ...this.#findings(), prepared, ...restored, evaluated: { ...evaluated, ...named } };
  }

  /** The results of the run being retried, with its artifacts; empty if it has kept none. */
  #takenOver(): Pick<PrepareReport, 'restored'> | { readonly problem: string } {
    const { restored } = this.#request;
    const hasKept = restored.some((one) => ('items' in one ? one.instances : [one]).some(({ kept }) => kept));
    if (!hasKept) return {};
    const warn = (step: string, message: string) => void this.#warnings.push({ step, message });
    try {
      return { restored: takenOver(this.#request, this.#artifacts, warn) };
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      return { problem: error.message };
    }
  }

  /**
   * Makes an attempt. An earlier one at the step that still ends here is lost, and must have ended first. `evaluated`: see
   * `PrepareReport`.
   */
  async attempt(
    order: AttemptOrder,
    evaluated: PrepareReport['evaluated'],
    control: AttemptControl,
  ): Promise<AttemptEndReport | ChildReport> {
    const { name } = order.task.step;
    for (let earlier = this.#attempts.get(name); earlier !== undefined; earlier = this.#attempts.get(name)) {
      this.#running.killStep(name);
      await earlier.catch(() => {});
    }
    const made = this.#make(order, evaluated, control).finally(() => this.#attempts.delete(name));
    this.#attempts.set(name, made);
    return made;
  }

  async #make(
    { task: ordered, outputs, logBytes, child }: AttemptOrder,
    evaluated: PrepareReport['evaluated'],
    control: AttemptControl,
  ): Promise<AttemptEndReport | ChildReport> {
    const task = child === undefined ? ordered : taskAfterChild(ordered, child);
    const { step, number } = task;
    const { name } = step;
    if (this.#spared.delete(name)) noteSpared({ logs: this.#logs.directory }, this.#spared);
    const { clock } = this.#host;
    if (!this.#isReady && evaluated !== null) this.#runner.resume(evaluated);
    this.#isReady = true;
    this.#runner.set(outputs);
    this.#secrets.learn(outputs);
    const own = { step: name, attempt: number };
    const inputs: RunInput[] = [];
    this.#inputs.set(name, inputs);
    if (child !== undefined) this.#ends.set(name, child);
    const signals = this.#running.enter(step);
    // The workflow asks a service to end when no step uses it any more.
    const stop = () => (step.service === undefined ? this.#running.stopStep(name) : this.#running.end(name));
    const ends = { stop, kill: () => this.#running.killStep(name) };
    const send = () => control.progress({ ...this.#findings([]), ...own, inputs: [...inputs] });
    const progressTimer = clock.setTimer(clock.now() + PROGRESS_AFTER_MS, () => {
      // The report repeats it.
      if (inputs.length > 0 && step.executor.type !== 'workflow') send().catch(() => {});
    });
    this.#onReady.set(name, () => void this.#sendReady(name, send));
    const mayBegin = await control.begin(ends);
    const { kills } = this.#guard;
    if (mayBegin) this.#running.begin(step);
    const hasLogs = mayBegin && step.fanOut === undefined;
    // Before its child run, an attempt writes nothing; the rest may be made by another worker.
    const waitsForChild = step.executor.type === 'workflow' && child === undefined;
    if (hasLogs && !waitsForChild) this.#attemptLogs.ship(step, number);
    const made =
      mayBegin && !signals.signal.aborted ? await this.#run(task, signals) : { outcome: notStarted, facts: {} };
    progressTimer();
    const start = this.#starts.get(name);
    this.#starts.delete(name);
    this.#ends.delete(name);
    if (start !== undefined && !control.isLost()) {
      this.#running.leave(name);
      this.#inputs.delete(name);
      return { ...this.#findings(), ...own, inputs, child: start };
    }
    this.#onReady.delete(name);
    const report = { ...made, outcome: withoutLarge(made.outcome, outputs) };
    this.#made.end(task, report, signals);
    if (step.leaveBackground) noteSpared({ logs: this.#logs.directory }, this.#spared.add(name));
    this.#inputs.delete(name);
    if (control.isLost() || (wasKilled(report) && (await this.#guard.ask()) !== kills)) {
      const outcome = lostOutcome(`the worker "${this.#worker}" did not reach the engine`);
      inputs.splice(-1, 1, attemptEnd({ outcome, facts: {} }, { at: clock.now(), ...own }));
    }
    const logs = hasLogs ? await this.#attemptLogs.ends(step, number, logBytes) : [];
    if (hasLogs && waitsForChild) this.#attemptLogs.ship(step, number);
    if (hasLogs) this.#attemptLogs.endShipping(step, number, logs);
    return { ...this.#findings(), ...own, inputs, logs, ...given({ store: this.#attemptLogs.store }) };
  }

  /** Makes an attempt with the paths of this machine. */
  async #run(task: StepTask, signals: AttemptSignals): Promise<AttemptReport> {
    const placed = withArtifacts(task, this.#artifacts);
    if ('problem' in placed) return { outcome: failed(placed.problem), facts: {} };
    const made = await this.#made.run(placed, { signals, flush: null, slot: null });
    const problem = keptProblem(made.kept ?? []);
    if (problem === null) return made;
    this.#artifacts?.replace(task.step.name, null);
    return { ...made, outcome: failed(problem), kept: [] };
  }

  /** Steps wait for it: it is sent until it arrives, or the attempt has ended. */
  async #sendReady(step: string, send: () => Promise<void>): Promise<void> {
    const { clock } = this.#host;
    const inputs = this.#inputs.get(step);
    while (this.#inputs.get(step) === inputs) {
      const isSent = await send().then(
        () => true,
        () => false,
      );
      if (isSent) return;
      await new Promise<void>((resolve) => void clock.setTimer(clock.now() + READY_AGAIN_MS, resolve));
    }
  }

  /** The workflow starts the child run, so that it holds no slot of a worker; then the attempt is made to its end. */
  async #runWorkflow(asked: SubworkflowRequest, attempt: Attempt): Promise<SubworkflowResult> {
    const { name } = attempt.step;
    const ended = this.#ends.get(name);
    if (ended === undefined) {
      const found = await findChild(asked, attempt, { request: this.#request, search: this.#host });
      if ('problem' in found) return { ok: false, canceled: false, json: '', message: found.problem };
      if (!attempt.signal.aborted) this.#starts.set(name, found);
      return { ok: false, canceled: true, json: '', message: '' };
    }
    const { start, retryOf, result } = ended;
    attempt.write('stderr', childLine(start.runId, knownWorkflow(this.#request, start.run).workflow, retryOf));
    if (ended.ended !== null) this.#running.end(name, ended.ended);
    return result;
  }

  /** Ends what the steps left behind, and removes the files of the run but for logs of which only the end was sent. */
  async cleanUp({ spared, force }: CleanUpOrder): Promise<readonly EngineWarning[]> {
    await this.#background.end(new Set([...spared, ...this.#spared]), this.#graceMs);
    for (const message of await this.#runner.shared.close(force)) this.#warnings.push({ step: null, message });
    this.#runner.close();
    this.#guard.leave(this.#runId);
    const removed = this.#attemptLogs.areKept
      ? ['work', 'scratch'].map((name) => join(this.#directory, name))
      : [this.#directory];
    for (const path of removed) this.#remove(path);
    await this.#attemptLogs.leave();
    return this.#takeWarnings();
  }

  /** Ends all attempts: this worker stops. */
  kill(): void {
    this.#running.kill();
  }

  #take(input: RunInput): void {
    if (input.type === 'attempt-started' && input.process !== null)
      this.#guard.add(this.#runId, { ...input.process, step: input.step });
    if (input.type === 'attempt-contained' && !this.#daemons.has(input.daemon))
      noteDaemons({ logs: this.#logs.directory }, this.#daemons.add(input.daemon));
    const reported = input.type === 'attempt-started' ? { ...input, worker: this.#worker } : input;
    if ('step' in reported && reported.type !== 'late-due') this.#inputs.get(reported.step)?.push(reported);
    if (reported.type === 'attempt-serving') this.#onReady.get(reported.step)?.();
  }

  #remove(path: string): void {
    try {
      rmSync(path, { recursive: true, force: true });
    } catch (error) {
      const message = `the worker "${this.#worker}" could not remove "${path}": ${messageOf(error)}`;
      this.#warnings.push({ step: null, message });
    }
  }

  #findings(warnings = this.#takeWarnings()): Pick<AttemptProgress, 'worker' | 'secrets' | 'warnings'> {
    return { worker: this.#worker, secrets: this.#known.values, warnings };
  }

  #takeWarnings(): readonly EngineWarning[] {
    return this.#warnings.splice(0);
  }
}
