import { createPrivateKey, X509Certificate } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { setMaxListeners } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer as createHttpServer, type Server } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { ServerSettings } from '#config/part-settings.ts';
import type { CountedRequest } from '#daemon/metrics.ts';
import type { SessionStore } from '#store/store.ts';
import { messageOf, WfError } from '#system/errors.ts';
import { clientFinder, createGuard, createLoginTries } from './access/auth.ts';
import { createLogin, createSessions } from './access/sessions.ts';
import { createListener } from './connection/listener.ts';
import {
  connectionsThatFit,
  defaultLimits,
  type Limits,
  limitConnections,
  rawReply,
  slowRequests,
} from './connection/load-limits.ts';
import type { Reply, Route } from './route.ts';
import { createRouter } from './router.ts';

/** The settings of the daemon that a server needs. */
export type ListenSettings = Pick<
  ServerSettings,
  'host' | 'port' | 'basePath' | 'login' | 'tls' | 'allowedHosts' | 'trustedProxies' | 'corsOrigins'
> &
  Partial<Pick<ServerSettings, 'workerToken'>>;

export type ServerOptions = {
  readonly routes: readonly Route[];
  readonly settings: ListenSettings;
  readonly log: (line: string) => void;
  readonly limits?: Partial<Limits>;
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
  if (!isLoopbackAddress(host) && settings.tls === null)
    log('logins and logs cross the network unencrypted: there is no TLS');
  const closing = new AbortController();
  // Every running request adds a listener.
  setMaxListeners(0, closing.signal);
  const router = createRouter(routes, settings.basePath);
  const now = options.now ?? Date.now;
  const login = createLogin(settings.login);
  const { workerToken = null } = settings;
  const guard = createGuard({
    login,
    workers: workerToken === null ? null : createLogin({ token: workerToken, readOnlyToken: null, basic: null }),
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
const LONGEST_BACKLOG = 16_384;

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => reject(cannotListen(error, host, port)));
    server.listen({ host, port, backlog: LONGEST_BACKLOG }, () => {
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

/** The minimum length of a token or password on a network address, in characters. */
const MIN_LOGIN_LENGTH = 16;

/**
 * Resolves a host to the address to listen on. Throws a `WfError` `usage` for an address that other machines can reach
 * if no login is required or a token or password is short. A name is resolved only once, so that the server listens on the checked
 * address.
 */
async function bindAddress(host: string, login: ServerSettings['login']): Promise<string> {
  const address = await resolveHost(host.replace(/^\[(.*)\]$/, '$1'));
  if (isLoopbackAddress(address)) return address;
  const { token, readOnlyToken, basic } = login;
  if (token === null && readOnlyToken === null && basic === null) {
    const message = `will not listen on "${host}" without a login: every client that reaches it could run commands`;
    throw new WfError('usage', message, {
      help: 'set WF_TOKEN, or WF_USERNAME and WF_PASSWORD, or --require-login; or listen on 127.0.0.1',
    });
  }
  requireLength('token', token, host);
  requireLength('readOnlyToken', readOnlyToken, host);
  requireLength('password', basic?.password ?? null, host);
  return address;
}

/** Wrong logins never delay a valid one, so only length prevents guessing. */
function requireLength(key: string, token: string | null, host: string): void {
  if (token === null || [...token].length >= MIN_LOGIN_LENGTH) return;
  const problem = `will not listen on "${host}" with a "${key}" of fewer than ${MIN_LOGIN_LENGTH} characters`;
  throw new WfError('usage', `${problem}: it could be guessed`, { help: 'make one with: openssl rand -hex 32' });
}

function isLoopbackAddress(address: string): boolean {
  return address === '::1' || /^(::ffff:)?127(\.\d+){3}$/.test(address);
}

async function resolveHost(host: string): Promise<string> {
  try {
    return (await lookup(host)).address;
  } catch (error) {
    const why = messageOf(error);
    throw new WfError('usage', `"${host}" is not an address of this machine: ${why}`, { help: 'give one with --host' });
  }
}

/** Reads the certificate with its chain, and its key, in PEM, and checks that they match. Throws a `WfError` `usage` that names the file. */
function readTlsIdentity({ cert, key }: NonNullable<ServerSettings['tls']>) {
  const identity = { cert: read(cert, 'certificate'), key: read(key, 'key') };
  const certificate = parse(`"${cert}" holds no certificate in PEM`, () => new X509Certificate(identity.cert));
  const privateKey = parse(`"${key}" holds no key in PEM, or one with a passphrase`, () =>
    createPrivateKey(identity.key),
  );
  // The TLS library would silently drop such a key and then reject every client.
  if (certificate.checkPrivateKey(privateKey)) return identity;
  throw unusable(`the key in "${key}" is not the one of the certificate in "${cert}"`);
}

function read(path: string, what: string): Buffer {
  return parse(`cannot read the TLS ${what} "${path}"`, () => readFileSync(path));
}

function parse<T>(problem: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw unusable(`${problem}: ${messageOf(error)}`);
  }
}

function unusable(problem: string): WfError {
  return new WfError('usage', problem, { help: 'the two files are set as "tlsCert" and "tlsKey"' });
}
