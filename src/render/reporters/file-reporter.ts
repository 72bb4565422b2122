import type { Workflow } from '../../core/workflow.ts';
import type { Recap, Reporter } from './reporter.ts';

/** Creates a reporter that writes one text when the run has ended. */
export function createFileReporter(
  render: (recap: Recap, workflow: Workflow) => string,
  write: (text: string) => void,
): Reporter {
  let workflow: Workflow | null = null;
  return {
    wantsOutput: false,
    wantsTails: true,
    begin: (begun) => {
      workflow = begun;
    },
    event: () => undefined,
    output: () => undefined,
    end: (recap) => {
      if (workflow !== null) write(render(recap, workflow));
    },
  };
}
