import { WfError } from '../../../errors.ts';
import { serverOf } from '../../access/open-service.ts';
import { stopSignals } from '../../exit-codes.ts';
import { configFor } from '../../reference.ts';
import { prepareRun, type RunOptions } from '../../run/prepare-run.ts';
import { startLocally } from '../../run/start-locally.ts';
import type { Console } from '../../terminal/console.ts';

/** Runs a workflow in the foreground: live output, recap, exit code. */
export async function runCommand(options: RunOptions, console: Console): Promise<number> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server !== null)
    return (await import('../../run/start-remotely.ts')).runRemotely(server, { options, config }, console);
  if (options.watch) return (await import('../../watch/watch.ts')).watchCommand(options, console);
  if (options.watchPath) throw new WfError('usage', '--watch-path goes with --watch');
  if (options.dryRun) return (await import('./dry-command.ts')).dryCommand(options, console);
  const run = await prepareRun({ options, config, known: null }, console);
  return run === null ? stopSignals.SIGINT : startLocally(run, options, console);
}
