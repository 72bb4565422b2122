/** A refusal by the machine: neither a bug of `wf` nor a mistake in a workflow. */
export type SystemProblem = {
  /** One line, with the path where there is one: `cannot open "/tmp/x": no space left on the device`. */
  readonly message: string;
  /** What to do about it; null if the message already says it. */
  readonly help: string | null;
  /** HTTP status: 503 for passing shortages, 507 for full storage, 500 for what only the operator can fix. */
  readonly status: 500 | 503 | 507;
};

type Kind = { readonly reason: string; readonly help: string | null; readonly status: SystemProblem['status'] };

const freeSpace = 'free some space, or set WF_HOME and TMPDIR to directories on another disk';
const moreFiles = 'raise the limit of open files (ulimit -n), or let fewer steps run at once (maxActiveSteps)';
const moreProcesses = 'raise the limit of processes (ulimit -u), or let fewer steps run at once (maxActiveSteps)';

/** System error codes: message, advice and HTTP status. */
const kinds: { readonly [code: string]: Kind } = {
  ENOSPC: { reason: 'no space left on the device', help: freeSpace, status: 507 },
  EDQUOT: { reason: 'the disk quota is used up', help: freeSpace, status: 507 },
  EFBIG: { reason: 'the file would grow beyond the size limit', help: null, status: 507 },
  EMFILE: { reason: 'too many open files in this process', help: moreFiles, status: 503 },
  ENFILE: { reason: 'too many open files on this machine', help: null, status: 503 },
  EAGAIN: { reason: 'the limit of processes is reached', help: moreProcesses, status: 503 },
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

function kindOf({ code, syscall }: NodeJS.ErrnoException): Kind | null {
  if (typeof code !== 'string' || typeof syscall !== 'string' || !Object.hasOwn(kinds, code)) return null;
  // For other calls EAGAIN only means that no data is available right now.
  if (code === 'EAGAIN' && !syscall.startsWith('spawn')) return null;
  return kinds[code] ?? null;
}

function sentence({ syscall = '', path }: NodeJS.ErrnoException, { reason }: Kind): string {
  // Node appends the program to the name of the call: `spawn git`.
  return `cannot ${path === undefined || syscall.includes(' ') ? syscall : `${syscall} "${path}"`}: ${reason}`;
}
