import { shellQuote } from './shell-quote.ts';
import { shortId } from './short-id.ts';
import { textWidth } from './width.ts';

/** The commands that a recap can suggest, each with its options and a leading space. */
export type SuggestedCommands = { readonly logs: boolean; readonly retry: boolean; readonly options?: string };

/** Returns the command that prints the output of a step. */
export function suggestLogs(runId: string, step: string, options = ''): string {
  // A name that starts with a dash must not be parsed as an option.
  const name = step.startsWith('-') ? `-- ${shellQuote(step)}` : shellQuote(step);
  return `wf logs${options} ${shellQuote(shortId(runId))} ${name}`;
}

/** Returns the command that shows a run. */
export function suggestStatus(runId: string): string {
  return `wf status ${shellQuote(shortId(runId))}`;
}

/** Returns the command that retries a run; with `--file` if the stored workflow has `masked` secrets. */
export function suggestRetry(runId: string, options = '', masked = false): string {
  return `wf retry${options} ${shellQuote(shortId(runId))}${masked ? ' --file' : ''}`;
}

/**
 * Renders a command with its label in lines of at most `columns` cells, so that a terminal does not break it: below the label if
 * it does not fit beside it, and `shorter` if it does not fit at all.
 */
export function commandLines(label: string, command: string, columns: number, shorter = command): readonly string[] {
  const room = columns - 1;
  const one = `${label} ${command}`;
  if (textWidth(one) <= room) return [one];
  if (textWidth(command) <= room || shorter === command) return [label, command];
  return commandLines(label, shorter, columns);
}
