import { setMaxListeners } from 'node:events';
import { existsSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { addAbortSignal } from 'node:stream';
import type Docker from 'dockerode';
import type { DockerOptions } from 'dockerode';
import type { FailureReason } from '#core/run/run.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import { messageOf, tryOr } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';

/** Why a step cannot continue: one line for the user, and the exit code that a shell would return (127: not found). */
export class DockerProblem extends Error {
  readonly exitCode: number | null;
  readonly reason: Extract<FailureReason, 'exit' | 'error' | 'unready'>;

  constructor(
    message: string,
    exitCode: number | null = null,
    reason: DockerProblem['reason'] = exitCode === null ? 'error' : 'exit',
  ) {
    super(message);
    this.exitCode = exitCode;
    this.reason = reason;
  }
}

/** A request error: besides its message, the daemon's answer or the system error code. */
type RequestError = Error & {
  readonly statusCode?: number;
  readonly json?: { readonly message?: string } | null;
  readonly code?: string;
  readonly syscall?: string;
};

const lostCodes: ReadonlySet<unknown> = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** A request error in one line, in the daemon's words if it answered. */
export function requestMessage(error: unknown): string {
  const { json, message, code, syscall } = error as RequestError;
  const text = json?.message ?? message.replace(/^\(HTTP code \d+\) [^-]* - /, '');
  if (lostCodes.has(code) || syscall === 'connect') return `the connection to Docker was lost (${text.trim()})`;
  return text.trim().replaceAll(/\s*\n\s*/g, ' ');
}

/** The HTTP status of the daemon's answer; null if there was none. */
export function requestStatus(error: unknown): number | null {
  return (error as RequestError).statusCode ?? null;
}

/** Whether the daemon, the connection or the system refused; other errors are bugs. */
export function isRequestError(error: unknown): boolean {
  const { statusCode, code } = error as RequestError;
  return statusCode !== undefined || code !== undefined;
}

/**
 * Sends a request to a daemon; rejects whenever the connection is lost. Requests of dockerode never settle if that
 * happens between the headers and the end of an answer, and they drop the headers.
 */
export async function ask(docker: Docker, method: 'GET' | 'POST', path: string, abortSignal: AbortSignal) {
  const { modem } = docker as unknown as { readonly modem: Modem };
  const request = { method, path, abortSignal, isStream: true, statusCodes: { 200: true } };
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    modem.dial(request, (error, answered) => (answered === null ? reject(error) : resolve(answered)));
  });
  addAbortSignal(abortSignal, answer);
  const chunks: Buffer[] = [];
  for await (const chunk of answer) chunks.push(chunk as Buffer);
  return { headers: answer.headers, text: Buffer.concat(chunks).toString() };
}

/** A type that dockerode leaves out. */
type Modem = {
  readonly dial: (options: object, settled: (error: Error | null, answer: IncomingMessage | null) => void) => void;
};

/** The object that a text holds as JSON; an empty one for any other text. */
export function objectIn<T extends object>(text: string): Partial<T> {
  const value: unknown = tryOr(null, () => JSON.parse(text));
  return typeof value === 'object' && value !== null ? value : {};
}

/** Whether the server is Docker, by a header of its ping answer or, if a proxy removes that, its version. */
async function isDocker(docker: Docker, abortSignal: AbortSignal): Promise<boolean> {
  try {
    const { headers } = await ask(docker, 'GET', '/_ping', abortSignal);
    return headers['api-version'] !== undefined || (await hasVersion(docker, abortSignal));
  } catch (error) {
    const { statusCode, code = '' } = error as RequestError;
    // Every Docker answers a ping; Node's parser reports what is not HTTP at all.
    if (statusCode === 404 || code.startsWith('HPE_')) return false;
    throw error;
  }
}

async function hasVersion(docker: Docker, abortSignal: AbortSignal): Promise<boolean> {
  try {
    const { text } = await ask(docker, 'GET', '/version', abortSignal);
    return typeof objectIn<{ Version: unknown }>(text).Version === 'string';
  } catch (error) {
    if (requestStatus(error) === null) throw error;
    return false;
  }
}

/** A daemon that has responded. */
export type Daemon = {
  readonly docker: Docker;
  readonly address: string;
  /** Aborted when answers are no longer awaited; passed to every request. */
  readonly over: AbortSignal;
};

const ELSEWHERE = 'or set DOCKER_HOST to the address of another one';

/** Aborts any number of requests some time after an end is requested, unless released before. */
export function patience(end: EndSignal, ms: number): { readonly over: AbortController; readonly release: () => void } {
  const over = new AbortController();
  setMaxListeners(0, over.signal);
  let timer: NodeJS.Timeout | undefined;
  const unsubscribe = end.onAbort(() => {
    timer = setTimeout(() => over.abort(), ms);
  });
  const release = () => {
    unsubscribe();
    clearTimeout(timer);
  };
  return { over, release };
}

/** Time limit for a ping in milliseconds; a healthy daemon responds at once, however busy it is. */
const PING_TIMEOUT_MS = 3000;

/** Pings the daemon of an environment. `stop` aborts the ping, `over` any later request. Throws a `DockerProblem`. */
export async function connect(
  env: Environment,
  { stop, over }: { readonly stop: AbortSignal; readonly over: AbortSignal },
): Promise<Daemon> {
  const address = dockerAddress(env);
  const { default: Client } = await import('dockerode');
  const timeout = AbortSignal.timeout(PING_TIMEOUT_MS);
  const docker = new Client(address.options);
  const isRight = await isDocker(docker, AbortSignal.any([stop, over, timeout])).catch((error: unknown) => {
    if (!timeout.aborted) throw new DockerProblem(explain(error, address));
    const silence = `${whyFailed(error, { address: address.label, over: timeout })} (waited ${PING_TIMEOUT_MS / 1000} s)`;
    throw new DockerProblem(`${silence}: restart the daemon, ${ELSEWHERE}`);
  });
  if (!isRight) throw notDocker(address.label);
  return { docker, address: address.label, over };
}

/** The server at an address responds, but not like Docker. */
export function notDocker(label: string): DockerProblem {
  return new DockerProblem(`the server at ${label} is not Docker; correct DOCKER_HOST`);
}

/** Why a request failed; once answers are no longer awaited, the daemon left it unanswered. */
export function whyFailed(error: unknown, { address, over }: Pick<Daemon, 'address' | 'over'>): string {
  return over.aborted ? `Docker at ${address} does not answer` : requestMessage(error);
}

/** What to do about a daemon that cannot be reached, by the code of the system. */
const reasons: { readonly [code: string]: string } = {
  ENOENT: `no Docker at %: the socket does not exist; start the daemon, ${ELSEWHERE}`,
  ECONNREFUSED: `no Docker at %: nothing listens there; start the daemon, ${ELSEWHERE}`,
  EACCES: `no permission for Docker at %: join the group of the socket (mostly "docker") and log in again, ${ELSEWHERE}`,
  ENOTFOUND: 'no Docker at %: the host is unknown; correct DOCKER_HOST',
};
const sameReasons: { readonly [code: string]: string } = { EPERM: 'EACCES', EAI_AGAIN: 'ENOTFOUND' };

function explain(error: unknown, { label, options }: DockerAddress): string {
  const { code = '' } = error as RequestError;
  const reason = reasons[sameReasons[code] ?? code];
  if (reason !== undefined) return reason.replace('%', label);
  const advice = options.protocol === 'https' ? '; its certificates are those in DOCKER_CERT_PATH' : '';
  return `Docker at ${label} cannot be used: ${requestMessage(error)}${advice}`;
}

type Environment = Readonly<Record<string, string>>;

/** A name for messages, and every option that dockerode would otherwise read from this process. */
type DockerAddress = { readonly label: string; readonly options: DockerOptions };

/**
 * The daemon address from an environment: `DOCKER_HOST` (`unix://`, `tcp://`, or `host:port`), with TLS if
 * `DOCKER_TLS_VERIFY` or `DOCKER_CERT_PATH` is set; else the default socket. The server's certificate is always
 * verified. Throws a `DockerProblem` for an unusable address or certificates.
 */
export function dockerAddress(env: Environment): DockerAddress {
  const host = env['DOCKER_HOST'] ?? '';
  if (host === '') return socketAddress(usualSocket(env));
  const [, scheme = 'tcp', rest = ''] = /^(?:([a-z]+):\/\/)?(.*)$/.exec(host) ?? [];
  switch (scheme) {
    case 'unix':
      return socketAddress(rest === '' ? usualSocket(env) : rest);
    case 'npipe':
      return socketAddress(rest);
    case 'tcp':
    case 'http':
    case 'https':
      return networkAddress(host, `${scheme}://${rest}`, env);
    case 'ssh':
      throw new DockerProblem(
        `DOCKER_HOST=${host}: ssh is not supported; forward the socket with ` +
          `"ssh -N -L /tmp/docker.sock:/var/run/docker.sock ${rest}" and set DOCKER_HOST=unix:///tmp/docker.sock`,
      );
    default:
      throw new DockerProblem(
        `DOCKER_HOST=${host}: not an address such as unix:///var/run/docker.sock or tcp://host:2375`,
      );
  }
}

/** Sets every property: dockerode reads missing ones from the environment of this process. */
const nothing = { socketPath: undefined, host: undefined, port: undefined, username: undefined, timeout: undefined };
const noKeys = { ca: undefined, cert: undefined, key: undefined };

function socketAddress(path: string): DockerAddress {
  return { label: `unix://${path}`, options: { ...nothing, ...noKeys, socketPath: path, protocol: 'http' } };
}

function networkAddress(host: string, text: string, env: Environment): DockerAddress {
  const web = text.replace(/^\w+/, 'http');
  if (!URL.canParse(web)) throw new DockerProblem(`DOCKER_HOST=${host}: not an address such as tcp://host:2375`);
  const { hostname } = new URL(web);
  const isSecret = text.startsWith('https:') || namesKeys(env);
  const port = /:(\d+)\/?$/.exec(text)?.[1] ?? (isSecret ? '2376' : '2375');
  const secrecy = isSecret
    ? { ...readKeys(env), protocol: 'https' as const }
    : { ...noKeys, protocol: 'http' as const };
  return { label: `tcp://${hostname}:${port}`, options: { ...nothing, ...secrecy, host: hostname, port } };
}

/** The client's certificate and the trusted authorities. `https://` without any trusts those of the system. */
function readKeys(env: Environment): Pick<DockerOptions, 'ca' | 'cert' | 'key'> {
  if (!namesKeys(env)) return noKeys;
  const folder = env['DOCKER_CERT_PATH'] || join(home(env), '.docker');
  try {
    const [ca, cert, key] = ['ca.pem', 'cert.pem', 'key.pem'].map((name) => readRegular(join(folder, name)));
    return { ca, cert, key };
  } catch (error) {
    const why = messageOf(error);
    throw new DockerProblem(`the certificates for Docker cannot be read: ${why}; DOCKER_CERT_PATH names their folder`);
  }
}

function namesKeys(env: Environment): boolean {
  return Boolean(env['DOCKER_TLS_VERIFY'] || env['DOCKER_CERT_PATH']);
}

/** The system's socket, else the one of Docker Desktop or a rootless daemon of this user. */
function usualSocket(env: Environment): string {
  const system = '/var/run/docker.sock';
  const runtime = env['XDG_RUNTIME_DIR'];
  const own = [join(home(env), '.docker/run/docker.sock'), ...(runtime ? [join(runtime, 'docker.sock')] : [])];
  return existsSync(system) ? system : (own.find((path) => existsSync(path)) ?? system);
}

function home(env: Environment): string {
  return env['HOME'] || homedir();
}
