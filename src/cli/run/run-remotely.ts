import { startRemotely } from '../../client/order-run.ts';
import { commandOptionsOf } from '../../client/remote-access.ts';
import type { ClientSettings } from '../../config/client-settings.ts';
import type { Config } from '../../config/config.ts';
import { WfError } from '../../errors.ts';
import { findWorkflow } from '../../service/workflows/workflows.ts';
import { withDaemon } from '../access/open-access.ts';
import type { Console } from '../terminal/console.ts';
import { printDetached } from './detached.ts';
import { reporterFor } from './foreground.ts';
import { givenParameters, hasParameters } from './parameters.ts';
import type { RunOptions } from './prepare-run.ts';
import { followInForeground } from './remote-foreground.ts';

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
  const params = hasParameters(options) ? givenParameters(options) : null;
  const strict = config.settings.read('strict').value;
  const order = { workflow: options.name, params, runId: options.runId ?? null, strict };
  return withDaemon(server, console, async (client) => {
    // Report an unknown reporter before anything starts.
    const { reporter } = await reporterFor(config, console, commandOptionsOf(client));
    const { summary, isNew } = await startRemotely(client, order).catch((error: unknown) => {
      throw isHere(error, options.name, config) ? fileIsHere(error as WfError, options.name) : error;
    });
    if (options.detach)
      return printDetached({ runId: summary.runId, isNew, options: commandOptionsOf(client) }, console);
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
