import { WfError } from '../errors.ts';
import { basicLogin, secret } from './login-settings.ts';
import { openSettings } from './open-settings.ts';
import type { ReadSetting } from './resolve.ts';
import type { SettingKey } from './settings.ts';

/** What `wf serve` is told to do. Files are named by absolute paths; secrets are here in the clear: print none of it. */
export type ServerSettings = {
  readonly host: string;
  /** 0: any that is free. */
  readonly port: number;
  /** Begins with a slash and ends without one, or is empty. */
  readonly basePath: string;
  readonly login: {
    /** Allows everything. */
    readonly token: string | null;
    /** Allows looking. */
    readonly readOnlyToken: string | null;
    readonly basic: { readonly username: string; readonly password: string } | null;
  };
  /** Files in PEM. */
  readonly tls: { readonly cert: string; readonly key: string } | null;
  /** Names beside those that follow from `host`, in lower case, with or without a port. */
  readonly allowedHosts: readonly string[];
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
  const { read } = openSettings({ env, cwd, flags, inProject: false });
  return {
    host: read('host').value,
    port: read('port').value,
    basePath: `/${read('basePath').value}`.replace(/\/+/g, '/').replace(/\/$/, ''),
    login: {
      token: secret(read, 'token', 'tokenFile'),
      readOnlyToken: secret(read, 'readOnlyToken', 'readOnlyTokenFile'),
      basic: basicLogin(read),
    },
    tls: tlsFiles(read),
    allowedHosts: read('allowedHosts').value.map((name) => name.toLowerCase()),
    corsOrigins: read('corsOrigins').value,
    maxConcurrentRuns: read('maxConcurrentRuns').value,
    maxQueuedRuns: read('maxQueuedRuns').value,
    onShutdown: read('onShutdown').value,
    historyKeepRuns: read('historyKeepRuns').value,
  };
}

function tlsFiles(read: ReadSetting): ServerSettings['tls'] {
  const { value: cert } = read('tlsCert');
  const { value: key } = read('tlsKey');
  if (cert === null && key === null) return null;
  if (cert === null) throw missing('tlsCert', 'there is a TLS key without its certificate');
  if (key === null) throw missing('tlsKey', 'there is a TLS certificate without its key');
  return { cert, key };
}

function missing(key: SettingKey, problem: string): WfError {
  return new WfError('usage', problem, { help: `set "${key}", or neither of the two` });
}
