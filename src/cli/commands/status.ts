import { isFinished } from '../../core/run/run-state.ts';
import { type AccessOptions, withAccess } from '../access/open-access.ts';
import { exitCodes } from '../exit-codes.ts';
import { recapOfPast } from '../reporters/past-recap.ts';
import { recapOptions } from '../reporters/reporters.ts';
import type { Console } from '../terminal/console.ts';

/** The options of `wf status`; `run` is null for the last run of all. */
export type StatusOptions = AccessOptions & { readonly run: string | null; readonly json?: true };

/** Shows one run, however it went. */
export function statusCommand({ run, json, ...options }: StatusOptions, console: Console): Promise<number> {
  const { out, outTerminal } = console;
  return withAccess(options, console, async (access) => {
    const word = run ?? '@latest';
    if (json) {
      out.write(`${JSON.stringify(await access.summary(word), null, 2)}\n`);
      return exitCodes.succeeded;
    }
    const { renderStatus } = await import('../../render/views/status.ts');
    const shownRun = await access.view(word);
    const { state, workflow } = shownRun;
    const recap = await recapOfPast(shownRun, access);
    const view = { run: state, workflow, recap, now: Date.now() };
    const { cwd, commands } = recapOptions(access.commandOptions);
    // What is still going on cannot be retried yet.
    const shown = { cwd, commands: { ...commands, retry: isFinished(state) } };
    out.write(renderStatus(view, outTerminal, shown));
    return exitCodes.succeeded;
  });
}
