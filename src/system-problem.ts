/** What the machine refuses, and what comes of that: not a bug of `wf`, and not a mistake in a workflow. */
export type SystemProblem = {
  /** One line, with the path where there is one: `cannot open "/tmp/x": no space left on the device`. */
  readonly message: string;
  /** What to do about it; null where the reason says it. */
  readonly help: string | null;
  /** What a server answers: 503 for what passes, 507 for what is full, 500 for what only its keeper can change. */
  readonly status: 500 | 503 | 507;
};

type Kind = { readonly reason: string; readonly help: string | null; readonly status: SystemProblem['status'] };

const freeSpace = 'free some space, or set WF_HOME and TMPDIR to directories on another disk';
const moreFiles = 'raise the limit of open files (ulimit -n), or let fewer steps run at once (maxActiveSteps)';
const moreProcesses = 'raise the limit of processes (ulimit -u), or let fewer steps run at once (maxActiveSteps)';

/** The one table of error codes of the system: their words, what helps, and what a server answers. */
const kinds: { readonly [code: string]: Kind } = {
  ENOSPC: { reason: 'no space left on the device', help: freeSpace, status: 507 },
  EDQUOT: { reason: 'the disk quota is used up', help: freeSpace, status: 507 },
  EFBIG: { reason: 'the file would grow beyond the size limit', help: null, status: 507 },
  EMFILE: { reason: 'too many open files in this process', help: moreFiles, status: 503 },
  ENFILE: { reason: 'too many open files on this machine', help: null, status: 503 },
  EAGAIN: { reason: 'the limit of processes is reached', help: moreProcesses, status: 503 },
  ENOMEM: { reason: 'there is not enough memory', help: null, status: 503 },
  EIO: { reason: 'the device reports an input/output error', help: null, status: 500 },
  EROFS: { reason: 'the file system is read-only', help: null, status: 500 },
  EACCES: { reason: 'permission denied', help: null, status: 500 },
  EPERM: { reason: 'operation not permitted', help: null, status: 500 },
  ESTALE: { reason: 'the network file system has lost the file', help: null, status: 500 },
};

/** The words for the code of a failed system call; null for one that says nothing of the machine. */
export function systemReason(code: string): string | null {
  return Object.hasOwn(kinds, code) ? (kinds[code]?.reason ?? null) : null;
}

/** What the machine refused, by the error itself or by what has caused it; null for any other error. */
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
  // Of any other call it says that nothing can be read or written just now.
  if (code === 'EAGAIN' && !syscall.startsWith('spawn')) return null;
  return kinds[code] ?? null;
}

function sentence({ syscall = '', path }: NodeJS.ErrnoException, { reason }: Kind): string {
  // Node puts the program behind the word: `spawn git`.
  return `cannot ${path === undefined || syscall.includes(' ') ? syscall : `${syscall} "${path}"`}: ${reason}`;
}
