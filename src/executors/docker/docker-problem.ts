import type { FailureReason } from '#core/run/run.ts';

/**
 * Why a step cannot continue: one line for the user, with the exit code a shell would return if there is one (127: not
 * found).
 */
export class DockerProblem extends Error {
  readonly exitCode: number | null;
  readonly reason: Extract<FailureReason, 'exit' | 'error' | 'unready'>;

  constructor(
    message: string,
    exitCode: number | null = null,
    reason: DockerProblem['reason'] = exitCode === null ? 'error' : 'exit',
  ) {
    super(message);
    this.exitCode = exitCode;
    this.reason = reason;
  }
}

/** A request error: besides its message, the daemon's answer or the system error code. */
export type RequestError = Error & {
  readonly statusCode?: number;
  readonly json?: { readonly message?: string } | null;
  readonly code?: string;
  readonly syscall?: string;
};

const lostCodes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A request error in one line, in the daemon's words if it answered. */
export function requestMessage(error: unknown): string {
  const { json, message, code, syscall } = error as RequestError;
  const text = json?.message ?? message.replace(/^\(HTTP code \d+\) [^-]* - /, '');
  if (lostCodes.has(code) || syscall === 'connect') return `the connection to Docker was lost (${text.trim()})`;
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** The HTTP status of the daemon's answer; null if there was none. */
export function requestStatus(error: unknown): number | null {
  return (error as RequestError).statusCode ?? null;
}

/** Whether the daemon, the connection or the system refused; other errors are bugs. */
export function isRequestError(error: unknown): boolean {
  const { statusCode, code } = error as RequestError;
  return statusCode !== undefined || code !== undefined;
}
