import { statSync } from 'node:fs';
import { isIP } from 'node:net';
import { canonicalKey } from '#language/schema/schema-type.ts';
import { WfError } from '#system/errors.ts';
import { type OpenSettings, openSettings } from './config.ts';
import { basicLogin, otherHalf, readLogStoreToken, secret } from './login-settings.ts';
import type { Entry, ReadSetting } from './resolve.ts';
import type { QueueLimit } from './settings.ts';

/** The settings of `wf serve`. Files are absolute paths; secrets are in plain text: never print them. */
export type ServerSettings = {
  readonly host: string;
  /** 0: any free port. */
  readonly port: number;
  /** Starts with a slash and does not end with one, or is empty. */
  readonly basePath: string;
  /** Whether a login is required even if the settings contain none. */
  readonly requireLogin: boolean;
  readonly login: {
    readonly token: string | null;
    readonly readOnlyToken: string | null;
    readonly basic: { readonly username: string; readonly password: string } | null;
  };
  /** With which workers store logs; null: they cannot. */
  readonly workerToken: string | null;
  readonly secretFiles: readonly string[];
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Names in addition to those that follow from `host`, in lower case, with or without a port. */
  readonly allowedHosts: readonly string[];
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly maxConcurrentRuns: number;
  readonly maxQueuedRuns: number;
  readonly queues: readonly QueueLimit[];
  readonly onShutdown: 'detach' | 'stop' | 'wait';
  /** Number of past runs kept per workflow; null: all that `histRetentionDays` keeps. */
  readonly historyKeepRuns: number | null;
};

/** Reads the settings of the daemon. Throws a `WfError` `usage` for invalid or contradictory ones. */
export function readServerSettings(
  env: NodeJS.ProcessEnv,
  cwd: string,
  flags: Readonly<Record<string, unknown>>,
): ServerSettings {
  const { read, user } = openSettings({ env, cwd, flags, inProject: false });
  return {
    host: read('host').value,
    port: read('port').value,
    basePath: `/${read('basePath').value}`.replace(/\/+/g, '/').replace(/\/$/, ''),
    requireLogin: read('requireLogin').value,
    login: {
      token: secret(read, 'token', 'tokenFile'),
      readOnlyToken: secret(read, 'readOnlyToken', 'readOnlyTokenFile'),
      basic: basicLogin(read),
    },
    workerToken: readLogStoreToken(read),
    secretFiles: secretFiles(read, user),
    tls: tlsFiles(read),
    allowedHosts: read('allowedHosts').value.map((name) => name.toLowerCase()),
    trustedProxies: trustedProxies(read),
    corsOrigins: read('corsOrigins').value,
    maxConcurrentRuns: read('maxConcurrentRuns').value,
    maxQueuedRuns: read('maxQueuedRuns').value,
    queues: read('queues').value,
    onShutdown: read('onShutdown').value,
    historyKeepRuns: read('historyKeepRuns').value,
  };
}

/** The user's `config.yaml` is included if it contains a secret. */
function secretFiles(read: ReadSetting, user: OpenSettings['user']): readonly string[] {
  const named = (['tokenFile', 'readOnlyTokenFile', 'passwordFile', 'engineLogsTokenFile', 'tlsKey'] as const).map(
    (key) => read(key).value,
  );
  const isSecret = ({ key }: Entry) => secretKeys.has(canonicalKey(key));
  const config = user.entries?.some(isSecret) ? user.path : null;
  return [...named, config].filter((path) => path !== null);
}

const secretKeys = new Set(['token', 'readOnlyToken', 'password', 'engineLogsToken'].map(canonicalKey));

function tlsFiles(read: ReadSetting): ServerSettings['tls'] {
  const { value: cert } = read('tlsCert');
  const { value: key } = read('tlsKey');
  if (cert === null && key === null) return null;
  if (cert === null) throw otherHalf('tlsCert', 'the TLS key has no certificate');
  if (key === null) throw otherHalf('tlsKey', 'the TLS certificate has no key');
  return { cert, key };
}

function trustedProxies(read: ReadSetting): readonly string[] {
  const { value: list, source } = read('trustedProxies');
  const wrong = list.find((item) => !isNetwork(item));
  if (wrong === undefined) return list;
  throw new WfError('usage', `${source}: "${wrong}" in "trustedProxies" is not an IP address or a network`, {
    help: 'write 10.0.0.5 or 10.0.0.0/8',
  });
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...more] = text.split('/');
  const longest = isIP(address) === 4 ? 32 : 128;
  const isPrefix = prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= longest);
  return isIP(address) !== 0 && isPrefix && more.length === 0;
}

const READABLE_BY_GROUP = 0o040;
const READABLE_BY_ALL = 0o004;

/**
 * Warnings about files with secrets that others can read, by their modes. Group access to a file of another owner is a
 * usual way to share it with a daemon (`root:wf`, 0640), so only files of this user are checked for their group.
 */
export function exposedFiles(paths: readonly string[]): readonly string[] {
  return [...new Set(paths)].flatMap((path) => {
    const readers = readersOf(path);
    return readers === null ? [] : [`warning: ${readers} can read "${path}", which holds a secret: chmod 600 it`];
  });
}

function readersOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return null;
  if ((stat.mode & READABLE_BY_ALL) !== 0) return 'every user of this machine';
  const isOwn = stat.uid === process.getuid?.();
  return isOwn && (stat.mode & READABLE_BY_GROUP) !== 0 ? 'the group of the file' : null;
}
