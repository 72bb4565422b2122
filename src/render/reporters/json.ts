import { endsAttempt } from '#core/run/outcome.ts';
import type { Workflow } from '#core/workflow.ts';
import { eventJson, isoTime } from '../data-views.ts';
import { hideSecretParams } from '../text/run-text.ts';
import { createBatch } from './batched.ts';
import type { PlainOptions } from './plain.ts';
import type { Reporter, Terminal } from './reporter.ts';
import { createStepLines, type OutputLine } from './step-lines.ts';

/**
 * Prints a JSON object per line: the events of the run, `step.output` for each line of output, and at last `run.summary`, a
 * RunSummary. Times are ISO 8601 UTC.
 */
export function createJsonReporter(terminal: Terminal, { now, defer }: Pick<PlainOptions, 'now' | 'defer'>): Reporter {
  const batch = createBatch(terminal.write, defer);
  const lines = createStepLines();
  let workflow: Workflow | null = null;
  let runId = '';

  const put = (type: string, at: string, rest: object) => batch.add(JSON.stringify({ type, runId, at, ...rest }));
  const putLines = (found: readonly OutputLine[]) => {
    for (const { at, ...line } of found) put('step.output', isoTime(at ?? now()), line);
  };

  return {
    wantsOutput: true,
    begin: (begun, id) => {
      workflow = begun;
      runId = id;
    },
    event: (event) => {
      if (endsAttempt(event)) putLines(lines.end(event.step));
      const shown =
        'params' in event && workflow !== null ? { ...event, params: hideSecretParams(event.params, workflow) } : event;
      batch.add(JSON.stringify(eventJson(runId, shown)));
    },
    output: (chunk) => putLines(lines.push(chunk)),
    end: ({ summary }) => {
      putLines(lines.end(null));
      put('run.summary', isoTime(now()), summary);
      batch.flush();
    },
  };
}
