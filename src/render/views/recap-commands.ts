import { shellQuote } from '../text/shell-quote.ts';
import { shortId } from '../text/short-id.ts';
import { textWidth } from '../text/width.ts';

/** The commands that exist and may therefore be suggested, and what each needs, with a space before it. */
export type SuggestedCommands = { readonly logs: boolean; readonly retry: boolean; readonly options?: string };

/** The command that prints what a step has printed. */
export function logsCommand(runId: string, step: string, options = ''): string {
  // A name that starts with a dash must not be taken for an option.
  const name = step.startsWith('-') ? `-- ${shellQuote(step)}` : shellQuote(step);
  return `wf logs${options} ${shellQuote(shortId(runId))} ${name}`;
}

/** The command that runs again what did not succeed; from the file where the stored workflow has `masked` secrets. */
export function retryCommand(runId: string, options = '', masked = false): string {
  return `wf retry${options} ${shellQuote(shortId(runId))}${masked ? ' --file' : ''}`;
}

/**
 * A command behind its label, in lines of at most `columns` cells so that a terminal breaks it nowhere: where it does not fit
 * beside the label it stands below, and where it fits nowhere `shorter` takes its place.
 */
export function commandLines(label: string, command: string, columns: number, shorter = command): readonly string[] {
  const room = columns - 1;
  const one = `${label} ${command}`;
  if (textWidth(one) <= room) return [one];
  if (textWidth(command) <= room || shorter === command) return [label, command];
  return commandLines(label, shorter, columns);
}
