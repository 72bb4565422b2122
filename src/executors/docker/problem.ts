/** Why a step cannot go on: a line for a person, with the exit code where a shell has one for it (127: not found). */
export class DockerProblem extends Error {
  readonly exitCode: number | null;

  constructor(message: string, exitCode: number | null = null) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What an error of a request has besides its message: the daemon's answer, or the code of the system's error. */
export type RequestError = Error & {
  readonly statusCode?: number;
  readonly json?: { readonly message?: string } | null;
  readonly code?: string;
  readonly syscall?: string;
};

const lostCodes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** An error of a request in one line, in the daemon's own words where it had any. */
export function requestMessage(error: unknown): string {
  const { json, message, code, syscall } = error as RequestError;
  const text = json?.message ?? message.replace(/^\(HTTP code \d+\) [^-]* - /, '');
  if (lostCodes.has(code) || syscall === 'connect') return `the connection to Docker was lost (${text.trim()})`;
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** The HTTP status of the daemon's answer; null when there was none. */
export function requestStatus(error: unknown): number | null {
  return (error as RequestError).statusCode ?? null;
}

/** Did the daemon refuse something, or the way to it or the system fail? Everything else is a bug. */
export function isRequestError(error: unknown): boolean {
  const { statusCode, code } = error as RequestError;
  return statusCode !== undefined || code !== undefined;
}
