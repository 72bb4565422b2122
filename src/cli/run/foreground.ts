import type { AppOptions } from '#app/app.ts';
import type { Config } from '#config/config.ts';
import { readLogForwarding } from '#config/forwarding-settings.ts';
import type { ActiveRun, ChildWatcher, Engine, OnChild, RunWatcher } from '#engine/engine.ts';
import type { Reporter } from '#render/reporters/reporter.ts';
import type { ReporterKind } from '#render/reporters/select.ts';
import { escapeControls } from '#render/text/sanitize.ts';
import { type StartRequest, startRun } from '#service/runs/runs.ts';
import { withDotenv } from '#service/runs/with-dotenv.ts';
import { shownWorkflow } from '#service/workflows/shown-workflow.ts';
import type { LoadedWorkflow } from '#service/workflows/workflows.ts';
import { WfError } from '#system/errors.ts';
import { exitCodeOf } from '../exit-codes.ts';
import { type ChosenReporter, createReporter } from '../reporters/reporters.ts';
import type { Console } from '../terminal/console.ts';
import { EngineFeed } from './engine-feed.ts';
import { listenForSignals } from './stop-signals.ts';

/** The options that decide how a run in the foreground ends; the rest is settings. */
export type ForegroundOptions = {
  readonly exitCode?: true;
  readonly shellOnFailure?: true;
  /** False: do not prompt. */
  readonly input?: boolean;
};

/** A run to start. */
export type ForegroundRun = {
  readonly request: StartRequest;
  readonly config: Config;
  /** Starts a run that was accepted earlier instead of a new one. */
  readonly carry?: (engine: Engine, watcher: RunWatcher) => ActiveRun;
  /** The id of a run that a daemon started, whose monitor then includes it. */
  readonly forDaemon?: string;
  /** Control group that holds every process of the run. */
  readonly group?: AppOptions['group'];
  /** Called when a run starts no further program, and forwards no lines. */
  readonly rest?: AppOptions['rest'];
};

/** A shorter run shows no estimate, and reads nothing for it. */
const estimateDelayMs = 500;

/** How long the end of a run waits for the sink of its logs. Five seconds at most, with everything else. */
const forwardingPatienceMs = 4500;

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
  warnOfProject(config, warn);
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
    const run = carry === undefined ? startRun(app.engine, request, watch) : carry(app.engine, watch);
    attach(run);
    forwarder?.attach(run.logs);
    stop.attach(run);
    if (keepHistory) estimates = showEstimate(request, reporter, config);
    const summary = await feed.end(await run.finished);
    if (stop.signal() === null) await shell?.open(summary);
    if (keepHistory) await tidyHistory(config, run.runId, stop);
    return exitCodeOf(summary, {
      passExitCode: options.exitCode ?? false,
      signal: stop.signal(),
    });
  } finally {
    clearTimeout(estimates);
    asker?.close();
    feed.close();
    // Only an error leaves anything to release.
    console.out.write(reporter.abandon?.() ?? '');
    await forwarder?.close(forwardingPatienceMs, stop.forced);
    stop.close();
  }
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
  const left = (error: unknown) => {
    if (!(error instanceof WfError)) throw error;
  };
  return setTimeout(() => void show().catch(left), estimateDelayMs).unref();
}

/** Returns the function that shows a question below the live view; null if no person can be prompted. */
export async function promptOf(
  { kind, reporter: { prompt } }: ChosenReporter,
  { input }: ForegroundOptions,
  console: Console,
): Promise<NonNullable<Reporter['prompt']> | null> {
  if (input === false || kind !== 'tree' || prompt === undefined) return null;
  const { isInteractive } = await import('../terminal/interactive.ts');
  return isInteractive(console) ? prompt : null;
}

function warnOfProject({ settings: { project } }: Config, warn: (problem: string) => void): void {
  if (project !== null && project.ignored !== null) warn(`${project.path} is ignored: ${project.ignored}`);
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
const longestMs = 2000;

/**
 * Removes old runs once a day, as workflow files and settings say. Keeps `runId`, the run that has just ended. Errors are
 * ignored here: `wf gc` reports them.
 */
async function tidyHistory(config: Config, runId: string, stop: { readonly forced: AbortSignal }): Promise<void> {
  const { createRetention } = await import('#app/retention-app.ts');
  try {
    const retention = createRetention(config);
    if (!retention.isDue()) return;
    const keepRuns = config.settings.read('historyKeepRuns').value;
    const { withTimeLimit } = await import('#system/time-limit.ts');
    const rule = { type: 'settings', keepRuns } as const;
    const request = { rule, workflow: null, dryRun: false, spare: runId };
    await withTimeLimit(longestMs, stop.forced, (signal) => retention.apply({ ...request, signal }));
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
  }
}

/** Prints the warnings of the file; for GitHub as annotations at its lines. */
export async function printWarnings(
  { warnings, sources }: Pick<LoadedWorkflow, 'warnings' | 'sources'>,
  reporter: ReporterKind,
  { out, err, env, errTerminal }: Console,
): Promise<void> {
  if (warnings.length === 0) return;
  const { githubAnnotation, renderDiagnostics } = await import('#render/views/diagnostics.ts');
  const { color, unicode } = errTerminal;
  const cwd = process.cwd();
  if (reporter !== 'github') return err.write(renderDiagnostics(warnings, sources, { color, unicode, cwd }));
  const workspace = env['GITHUB_WORKSPACE'] || cwd;
  for (const warning of warnings) out.write(`${githubAnnotation(warning, { cwd: workspace })}\n`);
}
