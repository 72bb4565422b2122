import { expandWords, parseCommand } from '#core/words/words.ts';
import type { Scope } from '#executors/executor.ts';

/** Splits a `shell` setting into program and options (`bash -e`). Null if it contains more than that. */
export function shellWords(shell: string, scope: Scope): readonly string[] | null {
  const parsed = parseCommand(shell);
  const words = parsed.kind === 'words' ? expandWords(parsed.words, scope) : [];
  return words.length > 0 ? words : null;
}

/**
 * The arguments that run a text in a shell. The text is not changed; `params` become `$1`, `$2`...; values reach it
 * only as parameters and environment.
 */
export function shellArgv(shell: readonly string[], code: string, params: readonly string[]): readonly string[] {
  // The shell would take a leading dash or plus for an option.
  const text = /^[-+]/.test(code) ? ` ${code}` : code;
  return [...shell, '-c', text, shell[0] ?? '', ...params];
}
