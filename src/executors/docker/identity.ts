import type Docker from 'dockerode';
import { ask, parseAnswer } from './api/docker-request.ts';
import { type RequestError, requestStatus } from './docker-problem.ts';

/**
 * Whether the server is Docker, according to a header of its ping answer or, if a proxy removes that, its version.
 * Rejects if it does not respond, or is Docker and refuses.
 */
export async function isDocker(docker: Docker, abortSignal: AbortSignal): Promise<boolean> {
  try {
    const { headers } = await ask(docker, { method: 'GET', path: '/_ping', abortSignal });
    return headers['api-version'] !== undefined || (await tellsVersion(docker, abortSignal));
  } catch (error) {
    if (isForeign(error as RequestError)) return false;
    throw error;
  }
}

async function tellsVersion(docker: Docker, abortSignal: AbortSignal): Promise<boolean> {
  try {
    const { text } = await ask(docker, { method: 'GET', path: '/version', abortSignal });
    const answer = parseAnswer(text) as { readonly Version?: unknown } | null | undefined;
    return typeof answer?.Version === 'string';
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    return false;
  }
}

/** Every Docker answers a ping; Node's parser reports what is not HTTP at all. */
function isForeign({ statusCode, code = '' }: RequestError): boolean {
  return statusCode === 404 || code.startsWith('HPE_');
}
