import type { DaemonClient } from '#client/daemon-client.ts';
import { createRemoteService } from '#client/remote-service.ts';
import type { Config } from '#config/config.ts';
import type { ClientSettings } from '#config/login-settings.ts';
import type { RetrySelection } from '#core/run/retry.ts';
import type { Param } from '#core/run/run.ts';
import { requireRunOf } from '#service/history/run-reference.ts';
import type { AcceptedRun, Service } from '#service/service.ts';
import { findWorkflow } from '#service/workflows/workflows.ts';
import { WfError } from '#system/errors.ts';
import { withDaemon } from '../access/open-service.ts';
import type { Console } from '../terminal/console.ts';
import { type ForegroundOptions, reporterFor } from './foreground.ts';
import { givenParameters, hasParameters } from './parameters.ts';
import type { RunOptions } from './prepare-run.ts';
import { followInForeground } from './remote-foreground.ts';
import { printDetached, printNothingToDo, type RetryOptions } from './start-locally.ts';

/**
 * Starts a workflow of a daemon and shows the run like a local one, or prints its id with `--detach`. Throws a `WfError` if the
 * daemon refuses it, and `usage` for options that only local runs have.
 */
export function runRemotely(
  server: ClientSettings,
  { options, config }: { readonly options: RunOptions; readonly config: Config },
  console: Console,
): Promise<number> {
  refuseLocal(options, config, server);
  const { name, runId = null } = options;
  const params = hasParameters(options) ? givenParameters(options) : null;
  const order = { workflow: { name }, params, runId, trigger: 'api', strict: strictOf(config) } as const;
  return showStarted(server, { options, config }, console, ({ runs }) =>
    runs.start(order).catch((error: unknown) => {
      throw isHere(error, name, config) ? fileIsHere(error as WfError, name) : error;
    }),
  );
}

/** A retry to request from a daemon. */
export type RemoteRetry = {
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
  const local = onlyLocal(options);
  if (local !== null) {
    throw new WfError('usage', `${local} works only for local runs, and ${server.source} names a daemon`);
  }
  const { file: useFile = false, runId: newRunId = null } = options;
  const order = { selection, params, useFile, newRunId, trigger: 'api', strict: strictOf(config) } as const;
  return showStarted(server, { options, config }, console, async ({ runs }) => {
    const retried = await runs.find(options.req ?? options.run);
    if (options.req !== undefined) requireRunOf(options.run, retried, config.cwd);
    const accepted = await runs.retry({ ...order, runId: retried.runId });
    return accepted ?? printNothingToDo(retried.runId, console);
  });
}

function onlyLocal({ shellOnFailure, envFile, onApproval }: RetryOptions): string | null {
  if (shellOnFailure) return '--shell-on-failure';
  if (envFile) return '--env-file';
  return onApproval === undefined ? null : '--on-approval';
}

type Started = { readonly options: ForegroundOptions & { readonly detach?: true }; readonly config: Config };

/** Lets a daemon start a run and shows it. `start` returns an exit code if there is nothing to start. */
function showStarted(
  server: ClientSettings,
  { options, config }: Started,
  console: Console,
  start: (service: Service) => Promise<AcceptedRun | number>,
): Promise<number> {
  return withDaemon(server, console, async (client: DaemonClient) => {
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

function strictOf({ settings }: Config): boolean {
  return settings.read('strict').value;
}

function refuseLocal(options: RunOptions, config: Config, { source }: ClientSettings): void {
  const { name, dryRun, watch, watchPath, shellOnFailure, envFile, ask, onApproval, only, skip, overlap } = options;
  const noHistory = config.settings.read('history').level === 'flag' && !config.settings.read('history').value;
  const wrong = [
    ...(name === '-' ? ['a workflow from standard input'] : []),
    ...(dryRun ? ['--dry-run'] : []),
    ...(watch || watchPath ? ['--watch'] : []),
    ...(shellOnFailure ? ['--shell-on-failure'] : []),
    ...(envFile ? ['--env-file'] : []),
    ...(ask ? ['--ask'] : []),
    ...(onApproval ? ['--on-approval'] : []),
    ...(overlap ? ['--overlap'] : []),
    ...(only ? ['--only'] : []),
    ...(skip ? ['--skip'] : []),
    ...(noHistory ? ['--no-history'] : []),
  ];
  if (wrong.length === 0) return;
  throw new WfError(
    'usage',
    `${wrong.join(' and ')} ${wrong.length > 1 ? 'work' : 'works'} only for local runs, and ${source} names a daemon`,
    {
      help: 'add --no-server to run it on this machine',
    },
  );
}

function isHere(error: unknown, name: string, { cwd }: Config): boolean {
  if (!(error instanceof WfError) || error.code !== 'not-found') return false;
  try {
    return findWorkflow(name, { cwd, dagsDir: null, base: null }) !== '';
  } catch {
    return false;
  }
}

/** Explains that a daemon is configured to a user who names a local file. */
function fileIsHere({ message }: WfError, name: string): WfError {
  return new WfError('not-found', `the daemon has ${message}`, {
    help: `"${name}" is a file of this machine: wf run --no-server ${name} runs it here`,
  });
}
