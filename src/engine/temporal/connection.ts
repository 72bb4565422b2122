import type { Connection, ConnectionOptions } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import type { NativeConnection, NativeConnectionOptions } from '@temporalio/worker';
import type { EngineAddress } from '#system/engine-address.ts';
import { errorCode, messageOf, WfError } from '#system/errors.ts';
import { keyId, payloadCodec, readEngineKey } from './payloads.ts';

/** How to reach the engine. `url`: as the user gave it; `env`: the environment with the settings of Temporal programs. */
export type EngineSettings = EngineAddress & {
  readonly url: string;
  readonly keyFile: string | null;
  readonly env: Readonly<Record<string, string>>;
};

/** A namespace of Temporal as wf uses it. */
export type EngineAccess<C> = {
  readonly connection: C;
  readonly namespace: string;
  readonly dataConverter: DataConverter;
  /** Of the key that encrypts payloads; null without one. */
  readonly keyId: string | null;
};

const CONNECT_TIMEOUT_MS = 10_000;

/** The status of gRPC. */
const CANCELLED = 1;
/** The waits of the client after an outage: those of the library grow to minutes. */
const channelArgs = { 'grpc.initial_reconnect_backoff_ms': 100, 'grpc.max_reconnect_backoff_ms': 500 };

type Interceptor = NonNullable<ConnectionOptions['interceptors']>[number];
type NextCall = Parameters<Interceptor>[1];

type Client = Awaited<ReturnType<typeof packages.client>>;

/** The interceptors of a connection: what repeats failed calls, as in connections without own interceptors, and below it. */
export function interceptorsOf({
  makeGrpcRetryInterceptor,
  defaultGrpcRetryOptions,
}: Pick<Client, 'makeGrpcRetryInterceptor' | 'defaultGrpcRetryOptions'>): Interceptor[] {
  return [makeGrpcRetryInterceptor(defaultGrpcRetryOptions()), failAfterClose];
}

/**
 * Lets calls on a closed connection fail. The library waits before it repeats a failed call; if the connection is closed by
 * then, the call throws out of a timer, which would end the process. (The library uses only the public methods of a call.)
 */
const failAfterClose: Interceptor = (options, nextCall) => {
  try {
    return nextCall(options) as ReturnType<Interceptor>;
  } catch (error) {
    return failedCall(messageOf(error)) as ReturnType<Interceptor>;
  }
};

function failedCall(details: string): ReturnType<NextCall> {
  return {
    start: (metadata, listener) => {
      setImmediate(() => {
        // As from a call without a response: what repeats calls expects one before the status.
        listener?.onReceiveMessage?.(null);
        listener?.onReceiveStatus?.({ code: CANCELLED, details, metadata });
      });
    },
    cancelWithStatus: () => {},
    getPeer: () => '',
    getAuthContext: () => null,
    sendMessage: () => {},
    sendMessageWithContext: () => {},
    startRead: () => {},
    halfClose: () => {},
  };
}

/** Connects a client. Throws a `WfError`: `usage` for settings that cannot be used, `unreachable`. */
export async function connectClient(settings: EngineSettings): Promise<EngineAccess<Connection>> {
  const { Connection, ...client } = await packages.client();
  const { connectionOptions, namespace } = await connectOptions(settings);
  const own = { channelArgs, connectTimeout: CONNECT_TIMEOUT_MS, interceptors: interceptorsOf(client) };
  const options = { ...connectionOptions, ...own } as ConnectionOptions;
  const connection = await reaching(settings, options.address, () => Connection.connect(options));
  return admitted(connection, namespace, settings);
}

/** Connects for one use. Throws a `WfError`: `usage`, `unreachable`. */
export async function using<T>(
  settings: EngineSettings,
  use: (access: EngineAccess<Connection>) => Promise<T>,
): Promise<T> {
  const access = await connectClient(settings);
  try {
    return await use(access);
  } catch (error) {
    if (error instanceof WfError) throw error;
    throw new WfError('unreachable', `the engine ${settings.url} does not answer: ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    await access.connection.close();
  }
}

/** Connects a worker. Throws as `connectClient`. */
export async function connectWorker(settings: EngineSettings): Promise<EngineAccess<NativeConnection>> {
  const { NativeConnection } = await packages.worker();
  const { connectionOptions, namespace } = await connectOptions(settings);
  const { address } = connectionOptions;
  const connection = await reaching(settings, address, () => NativeConnection.connect(connectionOptions));
  return admitted(connection, namespace, settings);
}

/** Asks for the namespace, which a connection does not. */
async function admitted<C extends Connection | NativeConnection>(
  connection: C,
  namespace: string,
  { keyFile }: EngineSettings,
): Promise<EngineAccess<C>> {
  try {
    const key = keyFile === null ? null : readEngineKey(keyFile);
    await connection.workflowService.describeNamespace({ namespace });
    const dataConverter = { payloadCodecs: [payloadCodec(key)] };
    return { connection, namespace, dataConverter, keyId: key === null ? null : keyId(key) };
  } catch (error) {
    await connection.close();
    throw error instanceof WfError ? error : refusalOf(error, namespace);
  }
}

type ConnectOptions = { readonly connectionOptions: NativeConnectionOptions; readonly namespace: string };

async function connectOptions({ address, namespace, env }: EngineSettings): Promise<ConnectOptions> {
  const { loadClientConnectConfig } = await packages.envconfig();
  try {
    const loaded = loadClientConnectConfig({ overrideEnvVars: { ...env } });
    return {
      connectionOptions: { ...loaded.connectionOptions, ...(address === null ? {} : { address }) },
      namespace: namespace ?? loaded.namespace ?? 'default',
    };
  } catch (cause) {
    throw new WfError('usage', `the settings of Temporal cannot be used: ${messageOf(cause)}`, { cause });
  }
}

async function reaching<T>({ url }: EngineSettings, address = 'localhost:7233', connect: () => Promise<T>): Promise<T> {
  try {
    return await connect();
  } catch (cause) {
    throw new WfError('unreachable', `the engine ${url} cannot be reached: ${address}: ${messageOf(cause)}`, {
      help: 'check that its server runs, and its certificates or API key',
      cause,
    });
  }
}

function refusalOf(cause: unknown, namespace: string): WfError {
  const isMissing = (cause as { readonly code?: unknown }).code === 5;
  return isMissing
    ? new WfError('usage', `the engine has no namespace "${namespace}"`, {
        help: 'write it after the address: temporal://HOST:PORT/NAMESPACE',
        cause,
      })
    : new WfError('unreachable', `the engine refused: ${messageOf(cause)}`, { cause });
}

/**
 * Handles the error of an engine that does not know a run, or no longer runs it. One that does not know its namespace, as a
 * server that has just started may say, knows nothing about the run.
 */
export function ifGone<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
    const isUnknown = Number(code) === 5 || name === 'WorkflowNotFoundError';
    if (isUnknown && !/namespace .*not found/i.test(messageOf(error))) return otherwise;
    throw error;
  };
}

/** The release of the packages of Temporal that this program was built with. */
const RELEASE = '1.24.0';

const NAMES = {
  client: '@temporalio/client',
  worker: '@temporalio/worker',
  activity: '@temporalio/activity',
  envconfig: '@temporalio/envconfig',
} as const;

/** The packages of Temporal, which are loaded by what uses them: few users have them installed. */
export const packages = {
  client: () => loaded(() => import('@temporalio/client')),
  worker: () => loaded(() => import('@temporalio/worker')),
  activity: () => loaded(() => import('@temporalio/activity')),
  envconfig: () => loaded(() => import('@temporalio/envconfig')),
};

/** Throws a `WfError` `usage` with the command that installs the packages. */
async function loaded<T>(load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (error) {
    const code = errorCode(error);
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    const names = Object.values(NAMES).map((name) => `${name}@${RELEASE}`);
    throw new WfError('usage', 'the engine "temporal" needs packages that are not installed', {
      help: `install them beside wf: npm install ${names.join(' ')}`,
      cause: error,
    });
  }
}
