import type { Reporter } from './reporter.ts';

/** Several reporters of one run as one; each gets what it wants. */
export function groupReporters(reporters: readonly Reporter[]): Reporter {
  const readers = reporters.filter(({ wantsOutput }) => wantsOutput);
  return {
    wantsOutput: readers.length > 0,
    wantsTails: reporters.some(({ wantsTails }) => wantsTails),
    begin: (workflow, runId) => {
      for (const reporter of reporters) reporter.begin(workflow, runId);
    },
    event: (event, state) => {
      for (const reporter of reporters) reporter.event(event, state);
    },
    output: (chunk) => {
      for (const reporter of readers) reporter.output(chunk);
    },
    end: (recap) => {
      for (const reporter of reporters) reporter.end(recap);
    },
  };
}
