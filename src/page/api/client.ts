import createClient from 'openapi-fetch';
import type { paths } from '#run-view/api/generated/schema.d.ts';
import { connected, disconnected } from '../data/connection.ts';
import { ApiProblem } from './problem.ts';

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

/** Returns the data of a response. Throws an `ApiProblem` if the daemon refuses the request or cannot be reached. */
export async function ask<T>(request: Promise<Answer<T>>): Promise<T> {
  return (await askTagged(request)).data;
}

/** Returns the data of a response with its `ETag` and its cursor of the event stream, if any. Throws as `ask` does. */
export async function askTagged<T>(
  request: Promise<Answer<T>>,
): Promise<{ readonly data: T; readonly tag: string; readonly cursor: string }> {
  const answer = await request.catch((error: unknown) => {
    disconnected();
    throw ApiProblem.unreachable(error);
  });
  connected();
  const { headers, ok } = answer.response;
  if (!ok) throw ApiProblem.refused(answer.response, answer.error);
  return { data: answer.data as T, tag: headers.get('ETag') ?? '', cursor: headers.get('WF-Cursor') ?? '' };
}
