import type { Reporter } from './reporter.ts';

/** Combines several reporters of one run. */
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
    child: (run) => {
      const children = reporters.flatMap(({ child }) => (child === undefined ? [] : [child(run)]));
      return {
        event: (event, state) => {
          for (const child of children) child.event(event, state);
        },
        output: (chunk) => {
          for (const child of children) child.output(chunk);
        },
      };
    },
    prompt: (prompt) => {
      for (const reporter of reporters) reporter.prompt?.(prompt);
    },
    estimate: (usualMs) => {
      for (const reporter of reporters) reporter.estimate?.(usualMs);
    },
    end: (recap) => {
      for (const reporter of reporters) reporter.end(recap);
    },
    abandon: () => reporters.map(({ abandon }) => abandon?.() ?? '').join(''),
  };
}
