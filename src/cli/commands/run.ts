import { WfError } from '../../errors.ts';
import { serverOf } from '../access/open-access.ts';
import { stopSignals } from '../exit-codes.ts';
import { configFor } from '../reference.ts';
import { type PreparedRun, prepareRun, type RunOptions } from '../run/prepare-run.ts';
import type { Console } from '../terminal/console.ts';

/** Runs a workflow in the foreground: live output, recap, exit code. */
export async function runCommand(options: RunOptions, console: Console): Promise<number> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server !== null)
    return (await import('../run/run-remotely.ts')).runRemotely(server, { options, config }, console);
  if (options.watch) return (await import('../watch/watch.ts')).watchCommand(options, console);
  if (options.watchPath) throw new WfError('usage', '--watch-path goes with --watch');
  if (options.dryRun) return (await import('./dry.ts')).dryCommand(options, console);
  const run = await prepareRun({ options, config, known: null }, console);
  if (run === null) return stopSignals.SIGINT;
  return options.detach ? detach(run, options, console) : run.go();
}

async function detach({ loaded, params, config }: PreparedRun, options: RunOptions, console: Console): Promise<number> {
  const { startDetached } = await import('../run/detached.ts');
  const request = {
    ...loaded,
    params,
    runId: options.runId ?? null,
    trigger: 'cli',
    strict: config.settings.read('strict').value,
  } as const;
  return startDetached(request, { ...options, config }, console);
}
