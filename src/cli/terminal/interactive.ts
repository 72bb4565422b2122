import { isTerminal } from '#start-up/os.ts';
import { isSet } from '../reporters/reporters.ts';
import type { Console } from './console.ts';

/** Whether a person can be prompted: standard input and standard error are terminals, and this is not a CI service. */
export function isInteractive({ errTerminal, env }: Pick<Console, 'errTerminal' | 'env'>): boolean {
  return isTerminal(0) && errTerminal.isTerminal && !isSet(env['CI']) && !isSet(env['GITHUB_ACTIONS']);
}
