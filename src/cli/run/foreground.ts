import type { AppOptions } from '#app/app.ts';
import type { TemporalHost } from '#app/engine-app.ts';
import type { Config } from '#config/config.ts';
import { readLogForwarding } from '#config/part-settings.ts';
import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { RunState } from '#core/run/run-state.ts';
import { summarize } from '#core/summary/summarize.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { ActiveRun, ChildWatcher, OnChild, RunHost, RunWatcher } from '#engine/engine.ts';
import type { Reporter, ReporterKind } from '#render/reporters.ts';
import { escapeControls } from '#render/text.ts';
import { views } from '#render/views.ts';
import { runRequest, type StartRequest, withDotenv } from '#service/start-runs.ts';
import { type LoadedWorkflow, shownWorkflow } from '#service/workflows.ts';
import type { LogFollower } from '#store/logs.ts';
import { LOCAL_ENGINE } from '#system/engine-address.ts';
import { ifRefused, WfError } from '#system/errors.ts';
import { nextTurn } from '#system/turns.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { type ChosenReporter, createReporter, isInteractive } from '../reporters/reporters.ts';
import type { Console, Output } from '../terminal/console.ts';
import {
  listenForSignals,
  type PresentedEvent,
  type PresentedResult,
  type PresentedWorkflow,
  Presenter,
} from './presenter.ts';

/** The options that decide how a run in the foreground ends; the rest is settings. */
export type ForegroundOptions = {
  readonly exitCode?: true;
  readonly shellOnFailure?: true;
  readonly input?: boolean;
};

type ForegroundRun = {
  readonly request: StartRequest;
  readonly config: Config;
  /** Starts a run that was accepted earlier instead of a new one. */
  readonly carry?: (host: RunHost, watcher: RunWatcher) => ActiveRun;
  /** The id of a run that a daemon started, whose monitor then includes it. */
  readonly forDaemon?: string;
  readonly group?: AppOptions['group'];
  /** Called when a run starts no further program, and forwards no lines. */
  readonly rest?: AppOptions['rest'];
};

type EngineUse = ForegroundOptions & {
  readonly forwarding: Awaited<ReturnType<typeof readLogForwarding>>;
  readonly keepHistory: boolean;
  readonly onChild: OnChild;
};

/** A shorter run shows no estimate, and reads nothing for it. */
const ESTIMATE_DELAY_MS = 500;

/** How long the end of a run waits for the sink of its logs. Five seconds at most, with everything else. */
const FORWARDING_PATIENCE_MS = 4500;

/** Runs a workflow in this process, shows it, passes signals on, and returns the exit code. */
export async function runInForeground(
  { request: asked, config, carry, forDaemon, group = null, rest = null }: ForegroundRun,
  options: ForegroundOptions,
  console: Console,
): Promise<number> {
  const { createApp } = await import('#app/app.ts');
  const request = carry === undefined ? await withDotenv(asked, config.processEnv) : asked;
  const forwarding = await readLogForwarding(config);
  const { reporter, kind } = await reporterFor(config, console);
  const isAsking = carry === undefined && request.onApproval === undefined;
  const prompt = isAsking ? await promptOf({ kind, reporter }, options, console) : null;
  const asker = prompt && (await import('./approval-asker.ts')).createApprovalAsker(prompt);
  const warn = (problem: string) => console.err.write(`wf: ${escapeControls(problem)}\n`);
  await printWarnings(request, kind, console);
  const { project } = config.settings;
  if (project !== null && project.ignored !== null) warn(`${project.path} is ignored: ${project.ignored}`);
  const processEnv = childEnvironment(config.processEnv, console.outTerminal.color);
  const { value: keepHistory } = config.settings.read('history');
  const shell = options.shellOnFailure ? (await import('./failure-shell.ts')).createFailureShell(console) : null;
  const asking = (watcher: ChildWatcher) => asker?.watching(watcher) ?? watcher;
  const onChild: OnChild = (parent, { workflow, sources }) =>
    asking(feed.child(parent, { sources, workflow: shownWorkflow(workflow, [], processEnv) }));
  const app = createApp(
    { ...config, processEnv },
    { keepHistory, onAttempt: shell?.attempt ?? null, onChild, group, rest: forwarding === null ? rest : null },
  );
  const engine =
    carry === undefined ? await openEngine(config, { forwarding, keepHistory, onChild, ...options }) : null;
  const { sources, params } = request;
  const own = { ...processEnv, ...request.dotenv?.variables };
  const shown = { sources, workflow: shownWorkflow(request.workflow, params, own) };
  const feed = new EngineFeed({ reporter, out: console.out, kept: keepHistory }, shown);
  const forwarder = forwarding && (await app.forwardLogs(forwarding, { warn, forDaemon: forDaemon ?? null }));
  const stop = listenForSignals();
  let estimates: NodeJS.Timeout | undefined;
  try {
    const { watch, attach } = asking({
      watch: (event, state) => {
        feed.watch(event, state);
        forwarder?.watch(event);
      },
      attach: (run) => feed.attach(run),
    });
    const started = () => (carry === undefined ? app.host.start(runRequest(request), watch) : carry(app.host, watch));
    const run = engine === null ? started() : engine.start(await engine.complete(runRequest(request)), watch);
    attach(run);
    forwarder?.attach(run.logs);
    stop.attach(run);
    if (keepHistory) estimates = showEstimate(request, reporter, config);
    const summary = await feed.end(await run.finished);
    if (stop.signal() === null) await shell?.open(summary);
    if (keepHistory) await tidyHistory(config, run.runId, stop).catch(ifRefused(undefined));
    return exitCodeOf(summary, stop.signal(), options.exitCode);
  } finally {
    clearTimeout(estimates);
    asker?.close();
    feed.close();
    // Only an error leaves anything to release.
    console.out.write(reporter.abandon?.() ?? '');
    await forwarder?.close(FORWARDING_PATIENCE_MS, stop.forced);
    await engine?.close();
    stop.close();
  }
}

/** Connects to the engine of the settings; null: runs are carried out here. Throws a `WfError`: `usage`, `unreachable`. */
async function openEngine(
  config: Config,
  { forwarding, keepHistory, onChild, shellOnFailure }: EngineUse,
): Promise<TemporalHost | null> {
  const { value: url, source } = config.settings.read('engine');
  if (url === LOCAL_ENGINE) return null;
  const refuse = (what: string) => new WfError('usage', `${what} does not work with the engine of ${source}`);
  if (shellOnFailure) throw refuse('--shell-on-failure');
  if (forwarding !== null) throw refuse('logForwarding');
  const { openEngineHost } = await import('#app/engine-app.ts');
  return openEngineHost(config, { url, keepHistory, onChild });
}

/** Shows later how long the workflow usually takes, if the reporter does; a storage problem is reported by the run itself. */
function showEstimate({ workflow }: StartRequest, reporter: Reporter, config: Config): NodeJS.Timeout | undefined {
  const { estimate } = reporter;
  const { file } = workflow;
  if (estimate === undefined || file === null) return undefined;
  const show = async () => {
    const { usualDuration } = await import('#app/history-app.ts');
    const usualMs = await usualDuration(file, config);
    if (usualMs !== null) estimate(usualMs);
  };
  return setTimeout(() => void show().catch(ifRefused(undefined)), ESTIMATE_DELAY_MS).unref();
}

/** Returns the function that shows a question below the live view; null if no person can be prompted. */
export async function promptOf(
  { kind, reporter: { prompt } }: ChosenReporter,
  { input }: ForegroundOptions,
  console: Console,
): Promise<NonNullable<Reporter['prompt']> | null> {
  if (input === false || kind !== 'tree' || prompt === undefined) return null;
  return isInteractive(console) ? prompt : null;
}

/** Names the source of an unknown reporter, which may be a setting from long ago. */
export async function reporterFor(
  { settings }: Config,
  console: Console,
  commandOptions = '',
): Promise<ChosenReporter> {
  const { value, level, source } = settings.read('reporter');
  try {
    const output = settings.read('output').value;
    const kept = settings.read('history').value;
    return await createReporter(value, console, { output, kept, commandOptions });
  } catch (error) {
    if (level === 'flag' || !(error instanceof WfError)) throw error;
    throw new WfError(error.code, `${source}: ${error.message}`, error.help === null ? {} : { help: error.help });
  }
}

/** Asks programs for colours if their output is shown with colours. */
function childEnvironment(env: Readonly<Record<string, string>>, color: boolean): Readonly<Record<string, string>> {
  return color && env['FORCE_COLOR'] === undefined && !env['NO_COLOR'] ? { ...env, FORCE_COLOR: '1' } : env;
}

/** Milliseconds for the removal of old runs at the end of a run; the rest is removed another day. */
const LONGEST_MS = 2000;

/** Removes old runs once a day, but not `runId`, which has just ended. `wf gc` reports errors, which the caller ignores. */
async function tidyHistory(config: Config, runId: string, stop: { readonly forced: AbortSignal }): Promise<void> {
  const { createRetention } = await import('#app/retention-app.ts');
  const retention = createRetention(config);
  if (!retention.isDue()) return;
  const keepRuns = config.settings.read('historyKeepRuns').value;
  const { withTimeLimit } = await import('#system/time-limit.ts');
  const rule = { type: 'settings', keepRuns } as const;
  const request = { rule, workflow: null, dryRun: false, spare: runId };
  await withTimeLimit(LONGEST_MS, stop.forced, (signal) => retention.apply({ ...request, signal }));
}

/** Prints the warnings of the file; for GitHub as annotations at its lines. */
export async function printWarnings(
  { warnings, sources }: Pick<LoadedWorkflow, 'warnings' | 'sources'>,
  reporter: ReporterKind,
  { out, err, env, errTerminal }: Console,
): Promise<void> {
  if (warnings.length === 0) return;
  const { githubAnnotation, renderDiagnostics } = await views.diagnostics();
  const { color, unicode } = errTerminal;
  const cwd = process.cwd();
  if (reporter !== 'github') return err.write(renderDiagnostics(warnings, sources, { color, unicode, cwd }));
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  for (const warning of warnings) out.write(`${githubAnnotation(warning, { cwd: workspace })}\n`);
}

type EngineFeedTools = {
  readonly reporter: Reporter;
  readonly out: Output;
  readonly kept: boolean;
};

/** The events of a run of this process and its child runs, with the output of steps between them, all in order. */
export class EngineFeed {
  readonly #tools: EngineFeedTools;
  readonly #root: FedRun;
  readonly #runs = new Map<string, FedRun>();
  readonly #due: { readonly fed: FedRun; readonly event: StoredEvent; readonly state: RunState }[] = [];
  #isShowing = false;
  #isPlanned = false;
  #done: Promise<void> = Promise.resolve();

  constructor(tools: EngineFeedTools, loaded: PresentedWorkflow) {
    this.#tools = tools;
    this.#root = { ...notAttached, presenter: new Presenter(tools.reporter, loaded), catchUpParent: null };
  }

  /** Call it in the turn of the event loop in which the run starts; steps start later. */
  attach(run: ActiveRun): void {
    this.#attach(this.#root, run);
  }

  readonly watch = (event: StoredEvent, state: RunState): void => this.#take(this.#root, event, state);

  /** Adds a child run; `loaded` contains no secret in plain text. */
  child({ runId, step, attempt }: Parameters<OnChild>[0], loaded: PresentedWorkflow): ChildWatcher {
    const parent = this.#runs.get(runId) ?? this.#root;
    const resultOf = (state: RunState) => this.#resultOf(fed, state);
    const presenter = new Presenter(this.#tools.reporter, loaded, { presenter: parent.presenter, step, resultOf });
    const fed: FedRun = { ...notAttached, presenter, catchUpParent: () => parent.follower?.catchUp(step, attempt) };
    return {
      watch: (event, state) => this.#take(fed, event, state),
      attach: (run) => this.#attach(fed, run),
    };
  }

  async end(state: RunState): Promise<RunSummary> {
    await this.#done;
    const result = this.#resultOf(this.#root, state);
    this.#root.presenter.end(state, result);
    return result.summary;
  }

  close(): void {
    for (const { follower } of [this.#root, ...this.#runs.values()]) follower?.close();
  }

  #attach(fed: FedRun, run: ActiveRun): void {
    const { reporter, out } = this.#tools;
    fed.run = run;
    if (reporter.wantsOutput) {
      fed.follower = run.logs.follow({
        deliver: (chunk) => fed.presenter.output(chunk),
        isBlocked: out.isBehind,
      });
    }
    this.#runs.set(run.runId, fed);
  }

  #take(fed: FedRun, event: StoredEvent, state: RunState): void {
    this.#due.push({ fed, event, state });
    if (this.#isShowing) return;
    // A run that is not stored may remove its logs in this turn.
    if (!this.#tools.kept) this.#done = this.#showDue();
    else if (!this.#isPlanned) this.#done = this.#showNextTurn();
  }

  /** Reading a log and formatting lines wait until the next step is started. */
  async #showNextTurn(): Promise<void> {
    this.#isPlanned = true;
    await nextTurn();
    this.#isPlanned = false;
    if (!this.#isShowing) await this.#showDue();
  }

  /** An event waits for the output before it, and output waits for a slow reader; the run waits for neither. */
  async #showDue(): Promise<void> {
    this.#isShowing = true;
    for (let next = this.#due.shift(); next; next = this.#due.shift()) {
      const { fed, event, state } = next;
      if (endsAttempt(event)) {
        while (fed.follower?.finish(event.step, event.attempt) === false) await this.#readerIsNear();
      }
      const { presenter, run } = fed;
      const tail = run !== null && presenter.wantsTail(event) ? run.logs.tail(event) : null;
      this.#show(fed, { event, state, tail });
    }
    this.#isShowing = false;
  }

  async #readerIsNear(): Promise<void> {
    const { out } = this.#tools;
    // Give the reporter time to write its batch of lines.
    await nextTurn();
    if (out.isBehind()) await out.drained();
  }

  #show({ presenter, follower, catchUpParent }: FedRun, { event, state, tail }: PresentedEvent): void {
    // The output of the step so far comes before the first line of its run.
    if (event.type === 'run.created') catchUpParent?.();
    presenter.event({ event, state, tail });
    // Not when the step starts: events may be waiting here for the output of another step, and this one's would pass them.
    if (event.type === 'step.started' && presenter.isShown) follower?.follow(event.step, event.attempt);
  }

  #resultOf({ run }: FedRun, state: RunState): PresentedResult {
    const { kept } = this.#tools;
    const logPath = (step: string, attempt: number) =>
      (kept ? run?.logs.file(step, attempt, 'stdout').path : null) ?? null;
    return { summary: summarize(state, logPath), kept, ...(run?.isMasked ? { masked: true } : {}) };
  }
}

type FedRun = {
  readonly presenter: Presenter;
  /** Null if the reporter shows no output. */
  follower: LogFollower | null;
  /** Shows the output so far of the step that carries it out; null for the run itself. */
  readonly catchUpParent: (() => void) | null;
  run: ActiveRun | null;
};

const notAttached = { follower: null, run: null };
