import type { LogStream } from '#store/logs.ts';
import { shellQuote } from '../text/shell-quote.ts';
import { shortId } from '../text/short-id.ts';

/** The selection of logs that a command prints; null: its default. */
type LogsHint = { readonly step: string; readonly attempt: number | null; readonly stream: LogStream | null };

/** The command that prints the logs of a step in full. */
export function logsHint(runId: string, { step, attempt, stream }: LogsHint): string {
  return [
    `wf logs ${shellQuote(shortId(runId))}`,
    ...(attempt === null ? [] : [`--attempt ${attempt}`]),
    ...(stream === null || stream === 'output' ? [] : [`--stream ${stream}`]),
    // A name that starts with a dash must not be parsed as an option.
    ...(step.startsWith('-') ? ['--'] : []),
    shellQuote(step),
  ].join(' ');
}

/** The command that writes the report of a run. */
export function reportHint(runId: string): string {
  return `wf report ${shellQuote(shortId(runId))}`;
}
