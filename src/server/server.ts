import { setMaxListeners } from 'node:events';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ServerSettings } from '#config/server-settings.ts';
import type { CountedRequest } from '#daemon/metrics.ts';
import type { SessionStore } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { createGuard } from './access/auth.ts';
import { clientFinder } from './access/client-address.ts';
import { createLogin } from './access/login.ts';
import { createLoginTries } from './access/login-tries.ts';
import { createSessions } from './access/sessions.ts';
import { bindAddress, isLoopbackAddress } from './connection/bind-address.ts';
import { limitConnections } from './connection/connections.ts';
import { connectionsThatFit, defaultLimits, type Limits } from './connection/limits.ts';
import { createListener } from './connection/listener.ts';
import { slowRequests } from './connection/slow-request.ts';
import { readTlsIdentity } from './connection/tls-files.ts';
import { rawReply } from './reply/raw-reply.ts';
import type { Reply, Route } from './route.ts';
import { createRouter } from './router.ts';

/** The settings of the daemon that a server needs. */
export type ListenSettings = Pick<
  ServerSettings,
  'host' | 'port' | 'basePath' | 'login' | 'tls' | 'allowedHosts' | 'trustedProxies' | 'corsOrigins'
>;

export type ServerOptions = {
  readonly routes: readonly Route[];
  readonly settings: ListenSettings;
  /** Receives lines for the operator of the daemon. */
  readonly log: (line: string) => void;
  readonly limits?: Partial<Limits>;
  /** Called for every answered request. */
  readonly observe?: (request: CountedRequest) => void;
  readonly now?: () => number;
  /** The page, which browsers get at unknown paths, and everywhere without a login. */
  readonly page?: Reply;
  /** Keeps sessions of browsers across restarts; by default they end with the server. */
  readonly sessions?: SessionStore;
};

const inMemory: SessionStore = { read: () => [], write: () => {}, remove: () => {} };

/** A listening server. */
export type RunningServer = {
  readonly address: { readonly host: string; readonly port: number };
  /** The URL of the server on this machine, with the base path and without a trailing slash. */
  readonly url: string;
  /** Stops accepting connections, ends streams, and waits shortly for running requests. */
  readonly close: () => Promise<void>;
};

/** Starts a server. Throws a `WfError` `usage` if the address is forbidden or unavailable, or the TLS files are invalid. */
export async function createServer({ routes, settings, log, ...options }: ServerOptions): Promise<RunningServer> {
  const all = { ...defaultLimits, ...options.limits };
  const limits = { ...all, connections: Math.min(all.connections, connectionsThatFit()) };
  const host = await bindAddress(settings.host, settings.login);
  if (!isLoopbackAddress(host)) for (const line of networkWarnings(settings)) log(line);
  const closing = new AbortController();
  // Every running request adds a listener.
  setMaxListeners(0, closing.signal);
  const router = createRouter(routes, settings.basePath);
  const now = options.now ?? Date.now;
  const login = createLogin(settings.login);
  const guard = createGuard({
    login,
    tries: createLoginTries(now),
    sessions: createSessions({ logins: login.known, store: options.sessions ?? inMemory, now, log }),
    clientOf: clientFinder(settings.trustedProxies),
    basePath: settings.basePath,
  });
  const server = createPlainServer(settings, limits);
  await listen(server, host, settings.port);
  const { port } = server.address() as AddressInfo;
  const listener = createListener({
    router,
    guard,
    names: { port, usualPort: settings.tls === null ? 80 : 443, allowed: settings.allowedHosts },
    corsOrigins: settings.corsOrigins,
    limits,
    log,
    observe: options.observe ?? (() => {}),
    page: options.page ?? null,
    closing: closing.signal,
  });
  server.on('request', listener);
  server.on('checkContinue', listener);
  return {
    address: { host, port },
    url: addressText(settings, host, port),
    close: () => close(server, closing, limits.closeMs),
  };
}

/** Returns warnings for an address on the network. */
function* networkWarnings({ tls }: ListenSettings): Generator<string> {
  if (tls === null) yield 'logins and logs cross the network unencrypted: there is no TLS';
}

function createPlainServer({ tls }: ListenSettings, limits: Limits): Server {
  const options = {
    maxHeaderSize: limits.headerBytes,
    headersTimeout: limits.headersMs,
    requestTimeout: limits.requestMs,
    keepAliveTimeout: limits.keepAliveMs,
    connectionsCheckingInterval: limits.checkMs,
    insecureHTTPParser: false,
    // The caller checks it more precisely.
    requireHostHeader: false,
  };
  const server = tls === null ? createHttpServer(options) : createHttpsServer({ ...options, ...readTlsIdentity(tls) });
  server.setTimeout(limits.idleMs);
  const refuseIfSlow = slowRequests(server);
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT') refuseIfSlow(socket, () => refuse(error, socket));
    else refuse(error, socket);
  });
  limitConnections(server, limits, tls === null);
  return server;
}

/** Responds to input that is not HTTP, too long or too slow. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  switch (error.code) {
    case 'HPE_HEADER_OVERFLOW':
      return void socket.end(rawReply(431, 'the request line and headers are too long'));
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return void socket.end(rawReply(408, 'the request took too long'));
    default:
      return void socket.end(rawReply(400, 'this is not a valid HTTP request'));
  }
}

/** The backlog for ten thousand clients at once; the system limits it too, usually to 4096. */
const longestBacklog = 16_384;

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog: longestBacklog }, () => {
      server.removeAllListeners('error').on('error', () => {});
      resolve();
    });
  });
}

function cannotListen(error: NodeJS.ErrnoException, host: string, port: number): WfError {
  const problem = `cannot listen on ${host}, port ${port}`;
  if (error.code === 'EADDRINUSE') {
    return new WfError('usage', `${problem}: another program does`, { help: 'end it, or choose another with --port' });
  }
  return new WfError('usage', `${problem}: ${error.message}`, { cause: error });
}

function addressText({ tls, basePath }: ListenSettings, host: string, port: number): string {
  const name = host === '0.0.0.0' || host === '::' ? 'localhost' : host.includes(':') ? `[${host}]` : host;
  return `${tls === null ? 'http' : 'https'}://${name}:${port}${basePath}`;
}

async function close(server: Server, closing: AbortController, patienceMs: number): Promise<void> {
  const closed = new Promise((resolve) => server.close(resolve));
  closing.abort();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), patienceMs);
  await closed;
  clearTimeout(timer);
}
