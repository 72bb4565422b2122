import type { Config } from '../../config/config.ts';
import { WfError } from '../../errors.ts';
import { beginRun } from '../../service/runs/local-desk.ts';
import type { StartRequest } from '../../service/runs/runs.ts';
import { exitCodes } from '../exit-codes.ts';
import type { CommonOptions } from '../program/add-command.ts';
import type { Console } from '../terminal/console.ts';

/**
 * Starts a run in a process of its own and prints its id once that process owns it. If a run with that id exists, its id is
 * printed instead. Throws a `WfError` if the run cannot start.
 */
export async function startDetached(
  request: StartRequest,
  { config, dags }: { readonly config: Config } & CommonOptions,
  console: Console,
): Promise<number> {
  requireHistory(config);
  const { createControl } = await import('../../app.ts');
  const control = createControl(config);
  const { processEnv: env, cwd } = config;
  const context = { env, cwd, dags: dags ?? null, isDaemon: false };
  const { runId, isNew } = await control.accept(request, { lasting: false, context });
  if (isNew) await beginRun(runId, control);
  return printDetached({ runId, isNew, options: '' }, console);
}

/** A run in the background. `options`: the options that commands need to find it. */
export type DetachedRun = { readonly runId: string; readonly isNew: boolean; readonly options: string };

/** Prints the id of a run in the background and returns the exit code. */
export function printDetached({ runId, isNew, options }: DetachedRun, { out, err, errTerminal }: Console): number {
  out.write(`${runId}\n`);
  if (!isNew) err.write(`run ${runId} exists already: nothing was started\n`);
  else if (errTerminal.isTerminal)
    err.write(`wf logs${options} -f ${runId} follows it, wf stop${options} ${runId} stops it\n`);
  return exitCodes.succeeded;
}

function requireHistory({ settings }: Config): void {
  const { value, source } = settings.read('history');
  if (value) return;
  throw new WfError('usage', `a run in the background must be stored, but ${source} turns the history off`);
}
