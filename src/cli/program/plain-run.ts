import type { RunOptions } from '../run/prepare-run.ts';
import { operands } from './add-command.ts';

/**
 * The options of `wf run NAME PARAMS`, if no word before `--` is an option; null for any other command line. Most runs are
 * started like that, and the parser of options with its declarations takes 3 ms of their start. Throws as `operands` does.
 */
export function plainRun(words: readonly string[]): RunOptions | null {
  const [called, name, ...rest] = words;
  if ((called !== 'run' && called !== 'start') || name === undefined || name.includes('=')) return null;
  const separator = words.indexOf('--');
  const own = separator === -1 ? words : words.slice(0, separator);
  if (own.length < 2 || own.some((word) => word.startsWith('-') || word === '')) return null;
  const params = separator === -1 ? rest : [...own.slice(2), ...words.slice(separator + 1)];
  return { input: true, cache: true, ...operands(name, params, words), name };
}
