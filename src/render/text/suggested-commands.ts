import type { RunSummary } from '#core/summary/summary.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import { controlCharacters, escapeControls, HARMLESS } from './sanitize.ts';
import { shortId } from './value-text.ts';
import { textWidth } from './width.ts';

/** The commands that a recap can suggest, each with its options and a leading space. */
export type SuggestedCommands = { readonly logs: boolean; readonly retry: boolean; readonly options?: string };

/** Returns the command that prints the output of a step. `options`: those by which it reaches the run. `part`: for a part. */
export function suggestLogs(
  runId: string,
  step: string,
  { options = '', part = '' }: { readonly options?: string | undefined; readonly part?: string } = {},
): string {
  return ofStep(`wf logs${options} ${shellQuote(shortId(runId))}${part}`, step);
}

/** A name that starts with a dash must not be parsed as an option. */
function ofStep(command: string, step: string): string {
  return `${command} ${step.startsWith('-') ? '-- ' : ''}${shellQuote(step)}`;
}

/** Returns the command that shows a run. */
export function suggestStatus(runId: string): string {
  return `wf status ${shellQuote(shortId(runId))}`;
}

/** Returns the command that retries a run; with `--file` if the stored workflow has `masked` secrets. */
export function suggestRetry(runId: string, options = '', masked = false): string {
  return `wf retry${options} ${shellQuote(shortId(runId))}${masked ? ' --file' : ''}`;
}

/** Puts a command beside its label, below it if that does not fit, or `shorter` if nothing fits into `columns`. */
export function commandLines(label: string, command: string, columns: number, shorter = command): readonly string[] {
  const room = columns - 1;
  const one = `${label} ${command}`;
  if (textWidth(one) <= room) return [one];
  if (textWidth(command) <= room || shorter === command) return [label, command];
  return commandLines(label, shorter, columns);
}

/** Returns the command that approves a step. */
export function suggestApprove(runId: string, step: string, options = ''): string {
  return ofStep(`wf approve${options} ${shellQuote(shortId(runId))}`, step);
}

/**
 * The steps of a run that wait for approval, each as `go waits for approval: Ship it?` and its part after the name, with the
 * commands to answer. `options`: those by which a command reaches the run.
 */
export function pendingApprovals({ runId, steps }: RunSummary, options = '') {
  return steps
    .filter(({ waitingFor }) => waitingFor === 'approval')
    .map(({ name, approval }) => {
      const prompt = approval?.prompt ?? '';
      const approve = suggestApprove(runId, name, `${options}${neededInputs(approval?.input)}`);
      const reject = suggestApprove(runId, name, options).replace('wf approve', 'wf reject');
      const asks = escapeControls(` waits for approval${prompt === '' ? '' : `: ${prompt}`}`);
      return { step: name, asks, text: escapeControls(name) + asks, approve, reject };
    });
}

type Input = { readonly name: string; readonly default: string; readonly required?: boolean };

/** Returns the options for the inputs that an approval needs: ` -p WHY=...`, or nothing. */
export function neededInputs(inputs: readonly Input[] = []): string {
  const needed = inputs.filter(({ required, default: value }) => required === true && value === '');
  return needed.map(({ name }) => ` -p ${name}=...`).join('');
}

/** Quotes a word for a POSIX shell if needed; with control characters as `$'...'`, as in bash, zsh, ksh and POSIX.1-2024. */
export function shellQuote(word: string): string {
  if (HARMLESS.test(word) || !controlCharacters().test(word)) return quoteWord(word);
  const quoted = word.replace(/[\\']/g, '\\$&').replace(controlCharacters(), escapeInQuotes);
  return `$'${quoted}'`;
}

const named: Readonly<Record<string, string>> = { '\n': '\\n', '\t': '\\t', '\r': '\\r' };

/** Three octal digits for each byte: shells disagree on the number of hexadecimal digits. */
function escapeInQuotes(character: string): string {
  const bytes = Array.from(new TextEncoder().encode(character), (byte) => `\\${byte.toString(8).padStart(3, '0')}`);
  return named[character] ?? bytes.join('');
}
