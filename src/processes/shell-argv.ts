import { expandWords, parseCommand } from '../core/words/words.ts';
import type { Scope } from '../executors/executor.ts';

/** The words of a `shell` setting: the program and its options (`bash -e`). Null when it is not just that. */
export function shellWords(shell: string, scope: Scope): readonly string[] | null {
  const parsed = parseCommand(shell);
  const words = parsed.kind === 'words' ? expandWords(parsed.words, scope) : [];
  return words.length > 0 ? words : null;
}

/**
 * What starts a shell with a text as its code. The text stays as it is; `params` are its `$1`, `$2`...; values reach it only
 * so and as environment.
 */
export function shellArgv(shell: readonly string[], code: string, params: readonly string[]): readonly string[] {
  // A text that begins so would be taken for one more option of the shell.
  const text = /^[-+]/.test(code) ? ` ${code}` : code;
  return [...shell, '-c', text, shell[0] ?? '', ...params];
}
