import type { Schedule } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';
import { serverOf } from '../../access/open-service.ts';
import { exitCodes, stopSignals } from '../../exit-codes.ts';
import { configFor } from '../../reference.ts';
import { type Overlap, prepareRun, type RunOptions } from '../../run/prepare-run.ts';
import { startLocally } from '../../run/start-locally.ts';
import type { Console } from '../../terminal/console.ts';

/** Runs a workflow in the foreground: live output, recap, exit code. */
export async function runCommand(options: RunOptions, console: Console): Promise<number> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server !== null)
    return (await import('../../run/start-remotely.ts')).runRemotely(server, { options, config }, console);
  if (options.watch && options.overlap) throw new WfError('usage', '--overlap does not work with --watch');
  if (options.watch) return (await import('../../run/watch.ts')).watchCommand(options, console);
  if (options.watchPath) throw new WfError('usage', '--watch-path requires --watch');
  if (options.dryRun) return (await import('./dry-command.ts')).dryCommand(options, console);
  const run = await prepareRun(options, config, console);
  if (run === null) return stopSignals.SIGINT;
  const overlap = options.overlap ?? overlapOf(run.request.workflow.schedule);
  if (overlap === 'allow') return startLocally(run, options, console);
  const { claimTurn } = await import('../../run/overlap.ts');
  const release = await claimTurn(run, overlap, console);
  if (release === null) return exitCodes.succeeded;
  try {
    return await startLocally(run, options, console);
  } finally {
    release();
  }
}

/** The meaning of `overlap` in the file for a start by hand: a default of the schedule is not one. */
function overlapOf({ overlap, isOverlapGiven }: Schedule): Overlap {
  if (isOverlapGiven !== true || overlap === 'all') return 'allow';
  return overlap === 'skip' ? 'skip' : 'wait';
}
