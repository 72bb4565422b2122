import { readAsset } from '../asset.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Shell } from '../program/options.ts';
import type { Console } from '../terminal/console.ts';

/** Prints the completion script of a shell. */
export function completionCommand(shell: Shell, { out }: Console): number {
  out.write(readAsset(`completion/wf.${shell}`));
  return exitCodes.succeeded;
}
