import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, request, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions as TlsOptions } from 'node:https';
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Socket,
  type Server as TcpServer,
} from 'node:net';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** A request as a server got it. */
export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
};

/** A server on a port of its own of 127.0.0.1, until the test ends. */
export type TestServer = {
  /** Without a slash at the end. */
  readonly url: string;
  readonly port: number;
  readonly received: readonly Received[];
  /** How many connections are open. */
  readonly connections: () => number;
};

type Answer = (received: Received, response: ServerResponse) => void;

/** A certificate for localhost and 127.0.0.1 that it has signed itself. */
export const certificateFile = join(import.meta.dirname, 'tls/certificate.pem');

/** Starts a server that answers requests when they are complete. */
export function httpServer(answer: Answer): Promise<TestServer> {
  return serve((listener) => createServer(listener), 'http', answer);
}

/** The same with TLS. */
export function httpsServer(answer: Answer, options: TlsOptions = {}): Promise<TestServer> {
  return serve((listener) => createTlsServer({ ...identity(), ...options }, listener), 'https', answer);
}

function identity() {
  return { key: readFileSync(join(import.meta.dirname, 'tls/key.pem')), cert: readFileSync(certificateFile) };
}

/** Starts a server that speaks no HTTP but what the test lets it say. */
export async function tcpServer(onConnection: (socket: Socket) => void): Promise<{ url: string; port: number }> {
  const server = createTcpServer(onConnection);
  const { port } = await listening(server);
  return { url: `http://127.0.0.1:${port}`, port };
}

/** A port without a listener. */
export async function closedPort(): Promise<number> {
  const server = createTcpServer();
  const { port } = await listening(server);
  await new Promise((closed) => server.close(closed));
  return port;
}

/** Settings of a proxy. */
type ProxySettings = {
  /** The required login: `name:password`. */
  readonly login?: string;
  /** It speaks TLS itself. */
  readonly tls?: boolean;
  /** The address that it connects to, whatever the request. */
  readonly leadsTo?: number;
};

/** A forward proxy; `asked` tells what it was asked for. */
export async function proxyServer({
  login,
  tls = false,
  leadsTo,
}: ProxySettings = {}): Promise<TestServer & { readonly asked: readonly string[] }> {
  const asked: string[] = [];
  const isRefused = ({ headers }: IncomingMessage) =>
    login !== undefined && headers['proxy-authorization'] !== `Basic ${Buffer.from(login).toString('base64')}`;
  const create = tls ? (listener: Listener) => createTlsServer(identity(), listener) : createServer;
  const server = create((incoming: IncomingMessage, outgoing: ServerResponse) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (isRefused(incoming)) return void outgoing.writeHead(407).end('who are you?');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const onward = request(incoming.url ?? '', { method: incoming.method ?? 'GET', headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(outgoing);
    });
    incoming.pipe(onward);
  });
  server.on('connect', (incoming: IncomingMessage, client: Socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (isRefused(incoming)) return void client.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const [host, port] = leadsTo === undefined ? (incoming.url ?? '').split(':') : ['127.0.0.1', leadsTo];
    const target = connect(Number(port), host, () => client.write('HTTP/1.1 200 Connection established\r\n\r\n'));
    client.on('error', () => target.destroy()).pipe(target);
    target.on('error', () => client.destroy()).pipe(client);
  });
  return { ...(await started(server, tls ? 'https' : 'http', [])), asked };
}

async function serve(create: (listener: Listener) => Server, scheme: string, answer: Answer): Promise<TestServer> {
  const received: Received[] = [];
  const server = create((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk));
    incoming.on('end', () => {
      const { method = '', url = '', headers } = incoming;
      const request = { method, url, headers, body: Buffer.concat(chunks).toString() };
      received.push(request);
      answer(request, response);
    });
  });
  return started(server, scheme, received);
}

type Listener = (incoming: IncomingMessage, response: ServerResponse) => void;

async function started(server: Server, scheme: string, received: readonly Received[]): Promise<TestServer> {
  const { port, connections } = await listening(server);
  return { url: `${scheme}://127.0.0.1:${port}`, port, received, connections };
}

/** When the test ends every connection is closed, then the server. */
async function listening(server: TcpServer): Promise<{ port: number; connections: () => number }> {
  const sockets = new Set<Socket>();
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((closed) => server.close(closed));
  });
  return { port: (server.address() as AddressInfo).port, connections: () => sockets.size };
}
