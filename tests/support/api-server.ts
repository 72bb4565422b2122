import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { onTestFinished } from 'vitest';
import type { Route } from '#server/route.ts';
import { createServer, type ListenSettings, type RunningServer, type ServerOptions } from '#server/server.ts';

/** An answer as it came. */
export type Answer = { readonly status: number; readonly headers: IncomingHttpHeaders; readonly body: string };

/** What a request is sent with besides its method and path. */
export type Sent = {
  readonly headers?: OutgoingHttpHeaders;
  /** An object is sent as JSON, `URLSearchParams` as a form, a text as it is. */
  readonly body?: string | URLSearchParams | object;
};

/** Starts the server on a free port for the duration of the test. */
export type ApiServer = RunningServer & {
  readonly logged: readonly string[];
  readonly ask: (method: string, path: string, sent?: Sent) => Promise<Answer>;
  /** Sends bytes as they are and answers with everything that comes back until the connection ends. */
  readonly raw: (bytes: string | Uint8Array) => Promise<string>;
};

/** Without a login, on a free port. */
export const openSettings: ListenSettings = {
  host: '127.0.0.1',
  port: 0,
  basePath: '',
  login: { token: null, readOnlyToken: null, basic: null },
  tls: null,
  allowedHosts: [],
  trustedProxies: [],
  corsOrigins: [],
};

/** Starts a server for the routes. */
export async function apiServer(
  routes: readonly Route[],
  settings: Partial<ListenSettings> = {},
  options: Partial<ServerOptions> = {},
): Promise<ApiServer> {
  const logged: string[] = [];
  const log = (line: string) => logged.push(line);
  const server = await createServer({ routes, settings: { ...openSettings, ...settings }, log, ...options });
  onTestFinished(server.close);
  return {
    ...server,
    logged,
    ask: (method, path, sent) => ask(server, method, path, sent),
    raw: (bytes) => raw(server.address.port, bytes),
  };
}

/** A body that is JSON. */
export function jsonOf<T = Record<string, unknown>>({ body }: Answer): T {
  return JSON.parse(body) as T;
}

function ask({ address, url }: RunningServer, method: string, path: string, sent: Sent = {}): Promise<Answer> {
  const { text, type } = bodyOf(sent.body);
  const isChunked = sent.headers?.['Transfer-Encoding'] !== undefined;
  const length = text === null || isChunked ? {} : { 'Content-Length': Buffer.byteLength(text) };
  const headers = { ...(type === null ? {} : { 'Content-Type': type }), ...length, ...sent.headers };
  const options = { host: address.host, port: address.port, method, path, headers, rejectUnauthorized: false };
  return new Promise((resolve, reject) => {
    const outgoing = (url.startsWith('https') ? httpsRequest : httpRequest)(options, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
      incoming.on('error', reject);
      incoming.on('end', () => {
        const { statusCode: status = 0, headers: received } = incoming;
        resolve({ status, headers: received, body: Buffer.concat(chunks).toString() });
      });
    });
    outgoing.on('error', reject);
    outgoing.end(text ?? undefined);
  });
}

function bodyOf(body: Sent['body']): { readonly text: string | null; readonly type: string | null } {
  if (body === undefined) return { text: null, type: null };
  if (typeof body === 'string') return { text: body, type: null };
  if (body instanceof URLSearchParams) return { text: body.toString(), type: 'application/x-www-form-urlencoded' };
  return { text: JSON.stringify(body), type: 'application/json' };
}

function raw(port: number, bytes: string | Uint8Array): Promise<string> {
  return new Promise((resolve, reject) => {
    let received = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes));
    socket.setEncoding('utf8');
    socket.on('data', (text: string) => {
      received += text;
    });
    socket.on('error', (error: NodeJS.ErrnoException) =>
      error.code === 'ECONNRESET' ? resolve(received) : reject(error),
    );
    socket.on('close', () => resolve(received));
  });
}
