import type { DaemonClient } from '#client/daemon-client.ts';
import { followRun } from '#client/event-feed.ts';
import { remoteRunLogs } from '#client/remote-logs.ts';
import { createRemoteService } from '#client/remote-service.ts';
import { maskedOf, withTitles, workflowOf } from '#client/remote-workflow.ts';
import type { Config } from '#config/config.ts';
import type { ClientSettings } from '#config/part-settings.ts';
import { buildGraph } from '#core/graph.ts';
import type { RetrySelection } from '#core/run/retry.ts';
import type { Param } from '#core/run/run.ts';
import { initialRun } from '#core/run/run-state.ts';
import { type Failures, failedNodes, failedSteps, type RunSummary } from '#core/summary/summary.ts';
import type { Workflow } from '#core/workflow.ts';
import { failuresIn, shortId } from '#render/text.ts';
import { evolveIfFit, requireRunOf } from '#service/history.ts';
import type { AcceptedRun, FeedItem, Service } from '#service/service.ts';
import { findWorkflow } from '#service/workflows.ts';
import { readTail } from '#store/log-ends.ts';
import type { RunLogs } from '#store/logs.ts';
import { failedAs, ifFound, messageOf, tryOr, WfError } from '#system/errors.ts';
import { type AccessOptions, mindFileHere, withDaemon } from '../access/open-service.ts';
import { exitCodeOf, exitCodes, printError, stopSignals } from '../exit-codes.ts';
import type { ChosenReporter } from '../reporters/reporters.ts';
import { requester } from '../requester.ts';
import type { Console } from '../terminal/console.ts';
import { type ForegroundOptions, promptOf, reporterFor } from './foreground.ts';
import { givenParameters, hasParameters } from './parameters.ts';
import { checksOf, type RunOptions } from './prepare-run.ts';
import { listenForSignals, type PresentedResult, Presenter } from './presenter.ts';
import type { RemoteApprovals } from './remote-approvals.ts';
import { printDetached, printNothingToDo, type RetryOptions } from './start-locally.ts';

/** Starts a workflow of a daemon and shows the run. Throws a `WfError` `usage` for options that only local runs have. */
export function runRemotely(
  server: ClientSettings,
  { options, config }: { readonly options: RunOptions; readonly config: Config },
  console: Console,
): Promise<number> {
  refuseLocal(options, config, server);
  const { name, runId = null } = options;
  const params = hasParameters(options) ? givenParameters(options) : null;
  const strict = config.settings.read('strict').value;
  const order = { workflow: { name }, params, runId, trigger: 'api', strict, ...checksOf(options) } as const;
  return showStarted(server, { options, config, word: name }, console, ({ runs }) =>
    runs.start(order).catch((error: unknown) => {
      throw withFileHere(error, name, config);
    }),
  );
}

type RemoteRetry = {
  readonly options: RetryOptions;
  readonly config: Config;
  readonly selection: RetrySelection;
  readonly params: readonly Param[] | null;
};

/** Requests a retry from a daemon and shows the new run like a local one, or prints its id with `--detach`. */
export function retryRemotely(
  server: ClientSettings,
  { options, config, selection, params }: RemoteRetry,
  console: Console,
): Promise<number> {
  const [local] = localOnly(options);
  if (local !== undefined) {
    throw new WfError('usage', `${local} works only for local runs, and ${server.source} names a daemon`);
  }
  const { file: useFile = false, runId: newRunId = null } = options;
  const strict = config.settings.read('strict').value;
  const order = { selection, params, useFile, newRunId, trigger: 'api', strict } as const;
  const word = options.req === undefined ? options.run : '';
  return showStarted(server, { options, config, word }, console, async ({ runs }) => {
    const retried = await runs.find(options.req ?? options.run);
    if (options.req !== undefined) requireRunOf(options.run, retried, config.cwd);
    const accepted = await runs.retry({ ...order, runId: retried.runId });
    return accepted ?? printNothingToDo(retried.runId, console);
  });
}

type Started = {
  readonly options: AccessOptions & ForegroundOptions & { readonly detach?: true };
  readonly config: Config;
  readonly word: string;
};

/** Lets a daemon start a run and shows it. `start` returns an exit code if there is nothing to start. */
function showStarted(
  server: ClientSettings,
  { options, config, word }: Started,
  console: Console,
  start: (service: Service) => Promise<AcceptedRun | number>,
): Promise<number> {
  return withDaemon(server, console, async (client: DaemonClient) => {
    await mindFileHere(client, { ...options, changes: word }, console);
    const service = createRemoteService(client);
    // Report an unknown reporter before anything starts.
    const chosen = await reporterFor(config, console, service.commandOptions);
    const started = await start(service);
    if (typeof started === 'number') return started;
    const { runId, isNew } = started;
    if (options.detach) return printDetached(started, service, console);
    if (!isNew) {
      const help = `wf status${service.commandOptions} ${runId} shows it; choose another id to start a run`;
      throw new WfError('run-exists', `a run "${runId}" exists already`, { help });
    }
    return followInForeground({ client, service, runId, ...chosen }, options, console);
  });
}

/** The options that only local runs have, in the order in which they are named. */
const localOptions = {
  dryRun: '--dry-run',
  watch: '--watch',
  watchPath: '--watch',
  shellOnFailure: '--shell-on-failure',
  envFile: '--env-file',
  ask: '--ask',
  onApproval: '--on-approval',
  overlap: '--overlap',
  only: '--only',
  skip: '--skip',
} as const satisfies Partial<Record<keyof RunOptions, string>>;

function localOnly(options: Partial<Pick<RunOptions, keyof typeof localOptions>>): readonly string[] {
  const keys = Object.keys(localOptions) as (keyof typeof localOptions)[];
  return [...new Set(keys.flatMap((key) => (options[key] ? [localOptions[key]] : [])))];
}

function refuseLocal(options: RunOptions, { settings }: Config, { source }: ClientSettings): void {
  const { level, value: keepsHistory } = settings.read('history');
  const wrong = [
    ...(options.name === '-' ? ['a workflow from standard input'] : []),
    ...localOnly(options),
    ...(level === 'flag' && !keepsHistory ? ['--no-history'] : []),
  ];
  if (wrong.length === 0) return;
  const what = `${wrong.join(' and ')} ${wrong.length > 1 ? 'work' : 'works'} only for local runs`;
  throw new WfError('usage', `${what}, and ${source} names a daemon`, {
    help: 'add --no-server to run it on this machine',
  });
}

/** Explains that a daemon is configured to a user who names a local file. */
function withFileHere(error: unknown, name: string, { cwd }: Config): unknown {
  const isHere = () => findWorkflow(name, { cwd, dagsDir: null, base: null }) !== '';
  if (!failedAs(error, 'not-found') || !tryOr(false, isHere)) return error;
  return new WfError('not-found', `the daemon has ${error.message}`, {
    help: `"${name}" is a file of this machine: wf run --no-server ${name} runs it here`,
  });
}

type RemoteForegroundRun = ChosenReporter & {
  readonly client: DaemonClient;
  readonly service: Service;
  readonly runId: string;
};

/**
 * Shows a run of a daemon like a local run and returns the exit code. The first signal stops the run through the daemon; the
 * second one only leaves. If the daemon stays away for too long, the result of the run is unknown here, and wf says so.
 */
async function followInForeground(
  { client, service, runId, ...chosen }: RemoteForegroundRun,
  options: ForegroundOptions,
  console: Console,
): Promise<number> {
  const { runs, commandOptions } = service;
  const { reporter } = chosen;
  const prompt = await promptOf(chosen, options, console);
  let approvals: RemoteApprovals | null = null;
  const leave = (exitCode: number) => {
    const command = `wf status${commandOptions} ${shortId(runId)}`;
    client.tell(`run ${shortId(runId)} continues at ${client.settings.url}; ${command} shows its result`);
    return exitCode;
  };
  const stop = listenForSignals();
  stop.attach({ cancel: ({ force }) => (force ? undefined : void askToStop(service, runId, client.tell)) });
  try {
    const found = await workflowOf(client, await runs.find(runId));
    const remote = reporter.wantsOutput ? await withTitles(client, runId, found) : found;
    const logs = remoteRunLogs(client, runId, stop.forced);
    const feed = createRemoteFeed(logs, new Presenter(reporter, remote), remote.workflow);
    const wanted = reporter.wantsOutput ? { step: null, known: [] } : null;
    for await (const item of followRun(client, { runId, after: 0, signal: stop.forced }, wanted)) {
      await feed.present(item);
      if (item.kind === 'event' && item.event.type === 'step.held' && prompt !== null && approvals === null) {
        const { createRemoteApprovals } = await import('./remote-approvals.ts');
        approvals = createRemoteApprovals({ client, service, runId, prompt });
      }
      if (item.kind === 'event') approvals?.take(item.event);
      if (console.out.isBehind()) await console.out.drained();
    }
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    const summary = await runs.find(runId);
    const childFailures = reporter.wantsTails ? await childFailuresOf(summary, runs) : new Map();
    feed.end({ summary, kept: true, childFailures, ...(await maskedOf(client, summary)) });
    return exitCodeOf(summary, stop.signal(), options.exitCode);
  } catch (error) {
    if (stop.forced.aborted) return leave(stopSignals[stop.signal() ?? 'SIGTERM']);
    if (!(error instanceof WfError)) throw error;
    await printError(error, console);
    return leave(exitCodes.failed);
  } finally {
    approvals?.close();
    console.out.write(reporter.abandon?.() ?? '');
    stop.close();
  }
}

/** Returns the failures of the child runs of all failed steps and instances; without those of a child run that was removed. */
async function childFailuresOf(summary: RunSummary, runs: Service['runs']): Promise<ReadonlyMap<string, Failures>> {
  const found = new Map<string, Failures>();
  for (const { name, child } of failedSteps(summary).flatMap(failedNodes)) {
    const run = child === undefined ? null : await ifFound(runs.find(child));
    if (run === null) continue;
    const { failures, moreFailures } = failuresIn(run);
    const below = failures.map((failure) => ({ ...failure, path: [name, ...failure.path] }));
    if (below.length > 0) found.set(name, { failures: below, moreFailures });
  }
  return found;
}

/** Prints a message if the daemon cannot be asked, so that the user can stop the run in another way. */
async function askToStop({ runs }: Service, runId: string, tell: DaemonClient['tell']): Promise<void> {
  try {
    await runs.stop(runId, { by: requester('run'), kill: 'never' });
  } catch (error) {
    tell(`the run could not be stopped: ${messageOf(error)}`);
  }
}

/** Presents the items of a run of a daemon: adds the state after each event, and the last lines that the presenter wants. */
function createRemoteFeed(logs: RunLogs, presenter: Presenter, workflow: Workflow) {
  let state = initialRun(buildGraph(workflow), workflow);
  return {
    present: async (item: FeedItem): Promise<void> => {
      if (item.kind === 'output') return presenter.output(item.chunk);
      const { event } = item;
      const next = evolveIfFit(state, event);
      if (next === null) return;
      state = next;
      presenter.event({ event, state, tail: presenter.wantsTail(event) ? await readTail(logs, event) : null });
    },
    end: (result: PresentedResult) => presenter.end(state, result),
  };
}
