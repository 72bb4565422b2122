import {
  type ClientRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type OutgoingHttpHeaders,
  request,
} from 'node:http';
import type { ApiServer } from './api-server.ts';

/** An answer that comes bit by bit. */
export type Stream = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** What has come so far. */
  readonly text: () => string;
  /** Resolves when the text has come; rejects when the answer ends without it. */
  readonly until: (text: string) => Promise<void>;
  /** Resolves when it ends: `whole`, or broken off. */
  readonly ended: Promise<'whole' | 'broken'>;
  /** Goes away. */
  readonly leave: () => void;
  readonly message: IncomingMessage;
};

/** Asks, and resolves as soon as the head of the answer has come. */
export function openStream(
  { address }: Pick<ApiServer, 'address'>,
  path: string,
  headers: OutgoingHttpHeaders = {},
): Promise<Stream> {
  return new Promise((resolve, reject) => {
    const asked = request({ host: address.host, port: address.port, path, headers, agent: false }, (message) => {
      resolve(streamOf(message, asked));
    });
    asked.on('error', reject);
    asked.end();
  });
}

function streamOf(message: IncomingMessage, asked: ClientRequest): Stream {
  let text = '';
  let isOver = false;
  const waiting = new Set<() => void>();
  const look = () => {
    for (const check of waiting) check();
  };
  message.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
    look();
  });
  message.on('error', () => {});
  const ended = new Promise<'whole' | 'broken'>((resolve) => {
    message.on('close', () => {
      isOver = true;
      resolve(message.complete ? 'whole' : 'broken');
      look();
    });
  });
  const until = (wanted: string) =>
    new Promise<void>((resolve, reject) => {
      const check = () => {
        if (!text.includes(wanted) && !isOver) return;
        waiting.delete(check);
        if (text.includes(wanted)) resolve();
        else reject(new Error(`"${wanted}" did not come, but ${text}`));
      };
      waiting.add(check);
      check();
    });
  const { statusCode: status = 0, headers } = message;
  return { status, headers, text: () => text, until, ended, leave: () => asked.destroy(), message };
}
