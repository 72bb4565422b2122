import { WfError } from '../../errors.ts';
import { serverOf } from '../access/open-access.ts';
import type { Console } from '../console.ts';
import { stopSignals } from '../exit-codes.ts';
import { type PreparedRun, prepareRun, type RunOptions } from '../prepare-run.ts';
import { configFor } from '../reference.ts';

/** Runs a workflow in the foreground: live output, recap, exit code. */
export async function runCommand(options: RunOptions, console: Console): Promise<number> {
  const config = configFor(options);
  const server = await serverOf(options, config);
  if (server !== null) return (await import('./run-remotely.ts')).runRemotely(server, { options, config }, console);
  if (options.watch) return (await import('./watch.ts')).watchCommand(options, console);
  if (options.watchPath) throw new WfError('usage', '--watch-path goes with --watch');
  if (options.dryRun) return (await import('./dry.ts')).dryCommand(options, console);
  const run = await prepareRun({ options, config, known: null }, console);
  if (run === null) return stopSignals.SIGINT;
  return options.detach ? detach(run, options, console) : run.go();
}

async function detach({ loaded, params, config }: PreparedRun, options: RunOptions, console: Console): Promise<number> {
  const { startDetached } = await import('../detached.ts');
  const request = {
    ...loaded,
    params,
    runId: options.runId ?? null,
    trigger: 'cli',
    strict: config.settings.read('strict').value,
  } as const;
  return startDetached(request, { ...options, config }, console);
}
