import { isIP } from 'node:net';
import { WfError } from '../errors.ts';
import { canonicalKey } from '../language/read/canonical-key.ts';
import type { Entry } from './config-file.ts';
import { basicLogin, secret } from './login-settings.ts';
import { type OpenSettings, openSettings } from './open-settings.ts';
import type { ReadSetting } from './resolve.ts';
import type { SettingKey } from './settings.ts';

/** What `wf serve` is told to do. Files are named by absolute paths; secrets are here in the clear: print none of it. */
export type ServerSettings = {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Begins with a slash and ends without one, or is empty. */
  readonly basePath: string;
  /** Whether a login is needed even where the settings name none. */
  readonly requireLogin: boolean;
  readonly login: {
    /** Allows everything. */
    readonly token: string | null;
    /** Allows looking. */
    readonly readOnlyToken: string | null;
    readonly basic: { readonly username: string; readonly password: string } | null;
  };
  /** Absolute paths of the files from which logins and keys are read. */
  readonly secretFiles: readonly string[];
  /** Files in PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Names beside those that follow from `host`, in lower case, with or without a port. */
  readonly allowedHosts: readonly string[];
  /** Addresses and networks of reverse proxies. */
  readonly trustedProxies: readonly string[];
  readonly corsOrigins: readonly string[];
  readonly maxConcurrentRuns: number;
  readonly maxQueuedRuns: number;
  readonly onShutdown: 'detach' | 'stop' | 'wait';
  /** Past runs of each workflow that are kept; null: all that `histRetentionDays` leaves. */
  readonly historyKeepRuns: number | null;
};

/**
 * The settings of the daemon. `flags` are the options of its command line by the names of the settings (`maxQueuedRuns`).
 * Throws a `WfError` `usage` for what makes no sense, by itself or together.
 */
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
    secretFiles: secretFiles(read, user),
    tls: tlsFiles(read),
    allowedHosts: read('allowedHosts').value.map((name) => name.toLowerCase()),
    trustedProxies: trustedProxies(read),
    corsOrigins: read('corsOrigins').value,
    maxConcurrentRuns: read('maxConcurrentRuns').value,
    maxQueuedRuns: read('maxQueuedRuns').value,
    onShutdown: read('onShutdown').value,
    historyKeepRuns: read('historyKeepRuns').value,
  };
}

/** The user's `config.yaml` is one where a secret is written in it. */
function secretFiles(read: ReadSetting, user: OpenSettings['user']): readonly string[] {
  const named = (['tokenFile', 'readOnlyTokenFile', 'passwordFile', 'tlsKey'] as const).map((key) => read(key).value);
  const isSecret = ({ key }: Entry) => secretKeys.has(canonicalKey(key));
  const config = user.entries?.some(isSecret) ? user.path : null;
  return [...named, config].filter((path) => path !== null);
}

const secretKeys = new Set(['token', 'readOnlyToken', 'password'].map(canonicalKey));

function tlsFiles(read: ReadSetting): ServerSettings['tls'] {
  const { value: cert } = read('tlsCert');
  const { value: key } = read('tlsKey');
  if (cert === null && key === null) return null;
  if (cert === null) throw missing('tlsCert', 'there is a TLS key without its certificate');
  if (key === null) throw missing('tlsKey', 'there is a TLS certificate without its key');
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

function missing(key: SettingKey, problem: string): WfError {
  return new WfError('usage', problem, { help: `set "${key}", or neither of the two` });
}
