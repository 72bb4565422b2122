import { isSet } from '../reporters/reporters.ts';
import type { Console } from './console.ts';
import { isTerminal } from './is-terminal.ts';

/** Whether somebody sits there who can be asked: standard input and standard error are a terminal, and it is no CI service. */
export function isInteractive({ errTerminal, env }: Pick<Console, 'errTerminal' | 'env'>): boolean {
  return isTerminal(0) && errTerminal.isTerminal && !isSet(env['CI']) && !isSet(env['GITHUB_ACTIONS']);
}
