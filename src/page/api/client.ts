import createClient from 'openapi-fetch';
import type { Diagnostic, Problem, paths } from '#run-view/api/types.ts';
import { connected, disconnected, isSignedOut } from '../data/connection.ts';

/** The API of the daemon that serves this page. */
export const api = createClient<paths>({ baseUrl: document.baseURI.replace(/\/$/, '') });

let csrf: string | null = null;

api.use({
  onRequest: ({ request }) => {
    if (csrf !== null && request.method !== 'GET') request.headers.set('X-WF-CSRF', csrf);
  },
});

/** Sets the CSRF token sent with requests that change something. */
export function sendCsrf(token: string | null): void {
  csrf = token;
}

type Answer<T> = { readonly data?: T | undefined; readonly error?: unknown; readonly response: Response };

/**
 * Returns the data of a response. Throws an `ApiProblem` if the daemon refuses the request or cannot be reached, and the reason
 * of an aborted request.
 */
export async function ask<T>(request: Promise<Answer<T>>): Promise<T> {
  return (await askTagged(request)).data;
}

/** Returns the data of a response with its `ETag` and its cursor of the event stream, if any. Throws as `ask` does. */
export async function askTagged<T>(
  request: Promise<Answer<T>>,
): Promise<{ readonly data: T; readonly tag: string; readonly cursor: string }> {
  const answer = await request.catch((error: unknown) => {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    disconnected();
    throw ApiProblem.unreachable(error);
  });
  connected();
  const { headers, ok } = answer.response;
  if (!ok) throw ApiProblem.refused(answer.response, answer.error);
  return { data: answer.data as T, tag: headers.get('ETag') ?? '', cursor: headers.get('WF-Cursor') ?? '' };
}

/** The advice about a problem of a file: its label, such as `did you mean "command"?`, and its help. */
export function advice({ label, help }: Diagnostic): string {
  if (label === null || help === null || help === label) return help ?? label ?? '';
  return `${label}${label.endsWith('?') ? '' : '.'} ${help}`;
}

/** A failed request, described for the user. */
export class ApiProblem extends Error {
  override readonly name = 'ApiProblem';
  /** The HTTP status; 0 if there was no response. */
  readonly status: number;
  /** Advice, or details of the problem. */
  readonly help: string | null;
  readonly diagnostics: readonly Diagnostic[];

  private constructor(message: string, status: number, { help, diagnostics }: Partial<Problem> = {}) {
    super(message);
    this.status = status;
    this.help = help ?? null;
    this.diagnostics = diagnostics ?? [];
  }

  static unreachable(cause: unknown): ApiProblem {
    const problem = new ApiProblem('the daemon does not answer', 0, { help: 'check that "wf serve" is running' });
    problem.cause = cause;
    return problem;
  }

  static refused({ status, statusText }: Response, body: unknown): ApiProblem {
    if (status === 401) isSignedOut.value = true;
    const problem = (typeof body === 'object' && body !== null ? body : {}) as Partial<Problem>;
    return new ApiProblem(problem.detail ?? `the daemon answered ${status} ${statusText}`, status, problem);
  }

  /** Returns a thrown problem; any other error becomes an internal error with its message. */
  static of(error: unknown): ApiProblem {
    if (error instanceof ApiProblem) return error;
    const problem = new ApiProblem(error instanceof Error ? error.message : String(error), -1);
    problem.cause = error;
    return problem;
  }
}
