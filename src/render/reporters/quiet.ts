import type { FinishedStatus } from '../../core/run/run.ts';
import { type RecapOptions, renderRecap } from '../views/recap.ts';
import type { Recap, Reporter, Terminal } from './reporter.ts';

/**
 * Says nothing about a run that did what it should, which includes failures that the file tolerates; of any other, and
 * of one with warnings, it prints the recap. Made for cron, which mails whatever is printed.
 */
export function createQuietReporter(terminal: Terminal, options: RecapOptions): Reporter {
  return {
    wantsOutput: false,
    begin: () => undefined,
    event: () => undefined,
    output: () => undefined,
    end: (recap) => {
      if (isWorthTelling(recap)) terminal.write(renderRecap(recap, terminal, options));
    },
  };
}

const unremarkable: readonly string[] = ['succeeded', 'partially_succeeded'] satisfies FinishedStatus[];

function isWorthTelling({ summary }: Recap): boolean {
  return !unremarkable.includes(summary.status) || summary.warnings.length > 0;
}
