/** Every kind of request that cannot be met. The code is stable: clients and scripts may rely on it. */
export type ErrorCode =
  | 'usage' // the command line or the request makes no sense
  | 'invalid-params' // parameters that the workflow does not take
  | 'not-found' // no such file, workflow, run or step
  | 'invalid-workflow' // the file has errors; the diagnostics tell which
  | 'run-exists' // a run with that id was already started
  | 'run-active' // the run is still going
  | 'conflict' // something else has that name already
  | 'busy' // a limit is reached
  | 'denied' // the daemon that was asked wants another login
  | 'unreachable' // the daemon that was asked cannot be reached, or does not answer as one
  | 'storage' // the disk refused: full, read-only, no permission
  | 'not-built'; // named in the format, not available in this version

/**
 * A request that cannot be met. A step that failed is an `Outcome`, a file that is wrong is a list of `Diagnostic`s;
 * anything else that is thrown is a bug of ours.
 */
export class WfError extends Error {
  readonly code: ErrorCode;
  /** What the user can do about it, as a sentence; null where nothing sensible can be said. */
  readonly help: string | null;

  constructor(code: ErrorCode, message: string, options: { help?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'WfError';
    this.code = code;
    this.help = options.help ?? null;
  }
}
