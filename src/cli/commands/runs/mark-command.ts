import type { MarkedStatus } from '#core/run/run.ts';
import { escapeControls } from '#render/text/sanitize.ts';
import { statusText } from '#render/views/recap.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import { exitCodes } from '../../exit-codes.ts';
import { requester } from '../../requester.ts';
import type { Console } from '../../terminal/console.ts';
import { runTitle } from './stop-command.ts';

/** The options of `wf mark`. */
export type MarkOptions = AccessOptions & {
  readonly run: string;
  readonly step: string;
  readonly status: MarkedStatus;
  readonly json?: true;
};

/** Sets the status of a step of a finished run and prints the new status of the run. */
export function markCommand(options: MarkOptions, console: Console): Promise<number> {
  const { run: word, step, status, json } = options;
  return withService(options, console, async ({ runs }) => {
    const { runId } = await runs.find(word);
    const run = await runs.mark(runId, { step, status, by: requester('mark') });
    if (json) console.out.write(`${JSON.stringify(run, null, 2)}\n`);
    else
      console.out.write(
        `step "${escapeControls(step)}" counts as ${status}; ${runTitle(run)} is ${statusText(run.status)}\n`,
      );
    return exitCodes.succeeded;
  });
}
