import type { IncomingMessage } from 'node:http';
import { addAbortSignal } from 'node:stream';
import type Docker from 'dockerode';

/** A request without a body. */
type PlainRequest = {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly abortSignal: AbortSignal;
};

/** A complete answer, headers included. */
type Answer = { readonly headers: IncomingMessage['headers']; readonly text: string };

/**
 * Sends a request to a daemon; rejects whenever the connection is lost. Requests of dockerode never settle if that
 * happens between the headers and the end of an answer, and they drop the headers.
 */
export async function ask(docker: Docker, request: PlainRequest): Promise<Answer> {
  const answer = await send(docker, request);
  addAbortSignal(request.abortSignal, answer);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { headers: answer.headers, text: Buffer.concat(chunks).toString() };
}

function send(docker: Docker, request: PlainRequest): Promise<IncomingMessage> {
  const { modem } = docker as unknown as { readonly modem: Modem };
  return new Promise((resolve, reject) => {
    modem.dial({ ...request, isStream: true, statusCodes: { 200: true } }, (error, answer) => {
      if (answer === null) reject(error);
      else resolve(answer);
    });
  });
}

/** A type that dockerode leaves out. */
type Modem = {
  readonly dial: (options: object, settled: (error: Error | null, answer: IncomingMessage | null) => void) => void;
};

/** Parses JSON; undefined for invalid text. */
export function parseAnswer(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
