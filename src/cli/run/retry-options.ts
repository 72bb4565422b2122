import { shortId } from '../../render/text/short-id.ts';
import type { AccessOptions } from '../access/open-service.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Console } from '../terminal/console.ts';
import type { ForegroundOptions } from './foreground.ts';
import type { ParameterOptions } from './parameters.ts';

/** The options of `wf retry`, as the command line names them. */
export type RetryOptions = AccessOptions &
  ParameterOptions &
  ForegroundOptions & {
    readonly run: string;
    /** The id of the run, if `run` names its workflow. */
    readonly req?: string;
    readonly step?: string;
    readonly from?: string;
    readonly file?: true;
    readonly runId?: string;
    readonly detach?: true;
  };

/** Prints that there is nothing to retry and returns the exit code. */
export function printNothingToDo(runId: string, { out }: Console): number {
  out.write(`nothing to do: every step of run ${shortId(runId)} succeeded\n`);
  return exitCodes.succeeded;
}
