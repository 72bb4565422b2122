/** Kinds of requests that cannot be met. The codes are stable: clients and scripts may rely on them. */
export type ErrorCode =
  | 'usage' // invalid command line or request
  | 'invalid-params' // parameters that the workflow does not accept
  | 'not-found' // no such file, workflow, run or step
  | 'invalid-workflow' // the file has errors, listed in the diagnostics
  | 'run-exists' // a run with that id already exists
  | 'run-active' // the run is still running
  | 'conflict' // the name is already taken
  | 'busy' // a limit is reached
  | 'forbidden' // the user may not do this
  | 'denied' // the daemon rejects the login
  | 'unreachable' // the daemon cannot be reached, or the server is not a daemon
  | 'storage' // the disk refuses: full, read-only, no permission
  | 'not-built'; // named in the format, not available in this version

/**
 * A request that cannot be met. A failed step is an `Outcome`, an invalid file a list of `Diagnostic`s; anything else
 * that is thrown is an internal error.
 */
export class WfError extends Error {
  readonly code: ErrorCode;
  /** Advice for the user, as a sentence; null if there is none. */
  readonly help: string | null;

  constructor(code: ErrorCode, message: string, options: { help?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? {} : { cause: options.cause });
    this.name = 'WfError';
    this.code = code;
    this.help = options.help ?? null;
  }
}

/** The message of whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether a request failed because what it names does not exist. */
export function isNotFound(error: unknown): error is WfError {
  return error instanceof WfError && error.code === 'not-found';
}
