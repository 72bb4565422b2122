import type { Json, JsonObject } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { expandHome, toolSettings } from '../tool-settings.ts';
import { bootstrap } from './supervisor.ts';

/** Connection settings; null values are left to the user's own ssh configuration. */
export type SshSettings = {
  readonly host: string;
  readonly user: string | null;
  readonly port: string | null;
  /** Path of the private key. */
  readonly key: string | null;
  /** Password of the remote user, or of the key. */
  readonly password: string | null;
  readonly hostKeys: HostKeys | null;
};

/** `any`: accept every host key and remember none; else a value of ssh's StrictHostKeyChecking. */
type HostKeys = 'any' | { readonly checking: string };

/** Reads a checked config; returns a problem if it names no host, or contains values that ssh would misread. */
export function sshSettings(config: JsonObject, attempt: Attempt): SshSettings | { readonly problem: string } {
  const { text } = toolSettings(config, attempt);
  const host = text('host');
  if (host === null) return { problem: 'the ssh executor needs "host"' };
  const key = text('key');
  const settings = {
    host,
    user: text('user'),
    port: text('port'),
    key: key === null ? null : expandHome(key, attempt.env),
    password: text('password'),
    hostKeys: hostKeys(config.strictHostKeyChecking, text('strictHostKeyChecking')),
  };
  const problem = refusal(settings, sshArguments(settings), attempt.env);
  return problem === null ? settings : { problem };
}

function hostKeys(value: Json | undefined, text: string | null): HostKeys | null {
  if (value === false || text === 'false' || text === 'no' || text === 'off') return 'any';
  if (value === true || text === 'true') return { checking: 'yes' };
  return text === null ? null : { checking: text };
}

/**
 * The arguments of ssh. Its own messages go to `log`, apart from the output of the remote program. It never prompts; a
 * connection that fails or stalls ends after a while.
 */
export function sshArgv(settings: SshSettings, log: string): readonly string[] {
  return ['ssh', '-T', '-x', '-E', log, ...sshArguments(settings), bootstrap];
}

/** The destination and how to connect to it. */
function sshArguments({ host, user, port, key, password, hostKeys }: SshSettings): readonly string[] {
  const asking = password === null ? ['BatchMode=yes'] : ['BatchMode=no', 'NumberOfPasswordPrompts=1'];
  const options = ['ConnectTimeout=15', 'ServerAliveInterval=30', ...asking, ...hostKeyOptions(hostKeys)];
  return [
    ...options.flatMap((option) => ['-o', option]),
    ...(user === null ? [] : ['-l', user]),
    ...(port === null ? [] : ['-p', port]),
    // ssh expands percent signs in the name of a key.
    ...(key === null ? [] : ['-o', 'IdentitiesOnly=yes', '-i', key.replaceAll('%', '%%')]),
    ...['--', host],
  ];
}

function hostKeyOptions(hostKeys: HostKeys | null): readonly string[] {
  if (hostKeys === null) return [];
  if (hostKeys !== 'any') return [`StrictHostKeyChecking=${hostKeys.checking}`];
  return ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
}

/** Values that every ssh accepts. */
const plain = {
  name: /^[a-z0-9_][\w.-]*$/i,
  port: /^[1-9]\d{0,3}$/,
  checking: /^(yes|no|ask|off|accept-new)$/,
};

/**
 * The complaint of ssh about its settings; null if there is none. ssh prints it before it honours `-E`, where it looks
 * like output of the remote program. So ssh is asked before a connection is made, and without the user's configuration,
 * which may run programs. Plain settings are not checked.
 */
function refusal(settings: SshSettings, args: readonly string[], env: Readonly<Record<string, string>>) {
  if (isPlain(settings)) return null;
  const reason = complaint(['-F', 'none', '-G', ...args], env)
    .trim()
    .split(/\s*\n/)
    .at(-1);
  return reason ? `ssh: ${reason}` : null;
}

/** Empty if ssh accepts the settings, or cannot be started, which its start for the step will report. */
function complaint(args: readonly string[], env: Readonly<Record<string, string>>): string {
  const { spawnSync } = process.getBuiltinModule('node:child_process');
  try {
    const { status, stderr } = spawnSync('ssh', args, { env, encoding: 'utf8', timeout: 5000 });
    return status === 0 || status === null ? '' : stderr;
  } catch {
    return '';
  }
}

function isPlain({ host, user, port, hostKeys }: SshSettings): boolean {
  const checking = hostKeys === null || hostKeys === 'any' ? 'no' : hostKeys.checking;
  return (
    [host, user ?? 'user'].every((name) => plain.name.test(name)) &&
    plain.port.test(port ?? '22') &&
    plain.checking.test(checking)
  );
}
