import type { Recap, Reporter } from './reporter.ts';

/** Creates a reporter that writes one text when the run has ended. */
export function createFileReporter(render: (recap: Recap) => string, write: (text: string) => void): Reporter {
  let hasBegun = false;
  return {
    wantsOutput: false,
    wantsTails: true,
    begin: () => {
      hasBegun = true;
    },
    event: () => undefined,
    output: () => undefined,
    end: (recap) => {
      if (hasBegun) write(render(recap));
    },
  };
}
