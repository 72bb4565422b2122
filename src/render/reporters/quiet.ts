import type { FinishedStatus } from '#core/run/run.ts';
import { type RecapOptions, renderRecap } from '../views/recap.ts';
import type { Reporter, Terminal } from './reporter.ts';

/** Prints the recap of a run that did not succeed or has warnings, else nothing: for cron, which mails all output. */
export function createQuietReporter(terminal: Terminal, options: RecapOptions): Reporter {
  return {
    wantsOutput: false,
    begin: () => undefined,
    event: () => undefined,
    output: () => undefined,
    end: (recap) => {
      const { status, warnings } = recap.summary;
      if (unremarkable.includes(status) && warnings.length === 0) return;
      terminal.write(renderRecap(recap, terminal, options));
    },
  };
}

const unremarkable: readonly string[] = ['succeeded', 'partially_succeeded'] satisfies FinishedStatus[];
