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

/** A request that cannot be met: no failed step (`Outcome`), no invalid file (`Diagnostic`), no internal error. */
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

/** The code of an error of the system or of Node, such as `ENOENT`; empty if it has none. */
export function errorCode(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

/** Whether a system call failed because a file, or a directory on the way to it, does not exist. */
export function isMissing(error: unknown): boolean {
  return ['ENOENT', 'ENOTDIR'].includes(errorCode(error));
}

/** The result of work that may fail: another one then, whatever the error is. */
export function tryOr<T, Otherwise>(otherwise: Otherwise, work: () => T): T | Otherwise {
  try {
    return work();
  } catch {
    return otherwise;
  }
}

/** The result of work that may be refused with a `WfError`: another one then. Throws any other error. */
export function unlessRefused<T, Otherwise>(otherwise: Otherwise, work: () => T): T | Otherwise {
  try {
    return work();
  } catch (error) {
    return ifRefused(otherwise)(error);
  }
}

/** Does work whose error is only reported. */
export function reporting(report: (error: unknown) => void, work: () => void): void {
  try {
    work();
  } catch (error) {
    report(error);
  }
}

/** Handles the rejection of a promise: returns a value for a `WfError`, and throws any other error. */
export function ifRefused<Otherwise>(otherwise: Otherwise): (error: unknown) => Otherwise {
  return (error) => {
    if (error instanceof WfError) return otherwise;
    throw error;
  };
}

/** Whether a request failed for one of these reasons. */
export function failedAs(error: unknown, ...codes: readonly ErrorCode[]): error is WfError {
  return error instanceof WfError && codes.includes(error.code);
}

/** The result of a request; null if it is about something that does not exist. */
export function ifFound<T>(request: Promise<T>): Promise<T | null> {
  return request.catch((error: unknown) => {
    if (failedAs(error, 'not-found')) return null;
    throw error;
  });
}

/** A refusal by the machine: neither a bug of `wf` nor a mistake in a workflow. */
export type SystemProblem = {
  /** One line, with the path where there is one: `cannot open "/tmp/x": no space left on the device`. */
  readonly message: string;
  /** What to do about it; null if the message already says it. */
  readonly help: string | null;
  /** HTTP status: 503 for passing shortages, 507 for full storage, 500 for what only the operator can fix. */
  readonly status: 500 | 503 | 507;
};

/** An error of Node for a failed system call. */
type SystemError = Error & { readonly code?: string; readonly syscall?: string; readonly path?: string };

type Kind = Omit<SystemProblem, 'message'> & { readonly reason: string };

const FREE_SPACE = 'free some space, or set WF_HOME and TMPDIR to directories on another disk';
const MORE_FILES = 'raise the limit of open files (ulimit -n), or let fewer steps run at once (maxActiveSteps)';
const MORE_PROCESSES = 'raise the limit of processes (ulimit -u), or let fewer steps run at once (maxActiveSteps)';

/** System error codes: message, advice and HTTP status. */
const kinds: { readonly [code: string]: Kind } = {
  ENOSPC: { reason: 'no space left on the device', help: FREE_SPACE, status: 507 },
  EDQUOT: { reason: 'the disk quota is used up', help: FREE_SPACE, status: 507 },
  EFBIG: { reason: 'the file would grow beyond the size limit', help: null, status: 507 },
  EMFILE: { reason: 'too many open files in this process', help: MORE_FILES, status: 503 },
  ENFILE: { reason: 'too many open files on this machine', help: null, status: 503 },
  EAGAIN: { reason: 'the limit of processes is reached', help: MORE_PROCESSES, status: 503 },
  ENOMEM: { reason: 'there is not enough memory', help: null, status: 503 },
  EIO: { reason: 'the device reports an input/output error', help: null, status: 500 },
  EROFS: { reason: 'the file system is read-only', help: null, status: 503 },
  EACCES: { reason: 'permission denied', help: null, status: 500 },
  EPERM: { reason: 'operation not permitted', help: null, status: 500 },
  ESTALE: { reason: 'the network file system has lost the file', help: null, status: 500 },
};

/** Describes the error code of a failed system call; null if the code says nothing about the machine. */
export function systemReason(code: string): string | null {
  return Object.hasOwn(kinds, code) ? (kinds[code]?.reason ?? null) : null;
}

/** The refusal behind an error or its cause; null for any other error. */
export function systemProblem(error: unknown): SystemProblem | null {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const kind = kindOf(cause);
    if (kind === null) continue;
    const { help, status } = kind;
    return { message: cause === error ? sentence(cause, kind) : (error as Error).message, help, status };
  }
  return null;
}

function kindOf({ code, syscall }: SystemError): Kind | null {
  if (typeof code !== 'string' || typeof syscall !== 'string' || !Object.hasOwn(kinds, code)) return null;
  // For other calls EAGAIN only means that no data is available right now.
  if (code === 'EAGAIN' && !syscall.startsWith('spawn')) return null;
  return kinds[code] ?? null;
}

function sentence({ syscall = '', path }: SystemError, { reason }: Kind): string {
  // Node appends the program to the name of the call: `spawn git`.
  return `cannot ${path === undefined || syscall.includes(' ') ? syscall : `${syscall} "${path}"`}: ${reason}`;
}
