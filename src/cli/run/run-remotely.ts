import { startRemotely } from '../../client/order-run.ts';
import { commandOptionsOf } from '../../client/remote-access.ts';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { Config } from '../../config/config.ts';
import { WfError } from '../../errors.ts';
import { findWorkflow } from '../../service/workflows/workflows.ts';
import { withDaemon } from '../access/open-access.ts';
import type { Console } from '../terminal/console.ts';
import { tellDetached } from './detached.ts';
import { reporterFor } from './foreground.ts';
import { givenParameters, hasParameters } from './parameters.ts';
import type { RunOptions } from './prepare-run.ts';
import { followInForeground } from './remote-foreground.ts';

/**
 * Has a daemon run one of its workflows: shows the run as if it were carried out here, or with `--detach` prints its id.
 * Throws a `WfError` for what the daemon refuses, and `usage` for options that only a run of this machine can have.
 */
export function runRemotely(
  server: ClientSettings,
  { options, config }: { readonly options: RunOptions; readonly config: Config },
  console: Console,
): Promise<number> {
  refuseLocal(options, config, server);
  const params = hasParameters(options) ? givenParameters(options) : null;
  const strict = config.settings.read('strict').value;
  const order = { workflow: options.name, params, runId: options.runId ?? null, strict };
  return withDaemon(server, console, async (client) => {
    // One that does not exist must be told before anything is started.
    const { reporter } = await reporterFor(config, console, commandOptionsOf(client));
    const { summary, isNew } = await startRemotely(client, order).catch((error: unknown) => {
      throw isHere(error, options.name, config) ? fileIsHere(error as WfError, options.name) : error;
    });
    if (options.detach)
      return tellDetached({ runId: summary.runId, isNew, options: commandOptionsOf(client) }, console);
    if (!isNew) throw new WfError('run-exists', `a run "${summary.runId}" exists already`);
    return followInForeground({ client, summary, reporter }, options, console);
  });
}

function refuseLocal(options: RunOptions, config: Config, { source }: ClientSettings): void {
  const { name, dryRun, watch, watchPath, shellOnFailure } = options;
  const noHistory = config.settings.read('history').level === 'flag' && !config.settings.read('history').value;
  const wrong = [
    ...(name === '-' ? ['a workflow from standard input'] : []),
    ...(dryRun ? ['--dry-run'] : []),
    ...(watch || watchPath ? ['--watch'] : []),
    ...(shellOnFailure ? ['--shell-on-failure'] : []),
    ...(noHistory ? ['--no-history'] : []),
  ];
  if (wrong.length === 0) return;
  throw new WfError('usage', `${wrong.join(' and ')} cannot be had from a daemon, and ${source} names one`, {
    help: 'add --no-server to run it on this machine',
  });
}

function isHere(error: unknown, name: string, { cwd }: Config): boolean {
  if (!(error instanceof WfError) || error.code !== 'not-found') return false;
  try {
    return findWorkflow(name, { cwd, dagsDir: null, base: null }) !== '';
  } catch {
    return false;
  }
}

/** Whoever names a file most likely forgot that a daemon is configured. */
function fileIsHere({ message }: WfError, name: string): WfError {
  return new WfError('not-found', `the daemon has ${message}`, {
    help: `"${name}" is a file of this machine: wf run --no-server ${name} runs it here`,
  });
}
