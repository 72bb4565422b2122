import type { Json, JsonObject } from '../../core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { expandHome, toolSettings } from '../tool-settings.ts';
import { bootstrap } from './supervisor.ts';

/** How to reach the other machine; what is null is left to the user's own configuration of ssh. */
export type SshSettings = {
  readonly host: string;
  readonly user: string | null;
  readonly port: string | null;
  /** File of the private key. */
  readonly key: string | null;
  /** Of the user there, or of the key. */
  readonly password: string | null;
  readonly hostKeys: HostKeys | null;
};

/** `any`: every key is accepted and none remembered; else a value of ssh's own StrictHostKeyChecking. */
type HostKeys = 'any' | { readonly checking: string };

/** Reads a checked config; a problem when it names no machine, or when ssh would take it for no settings. */
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
 * The arguments of ssh. What it has to say itself goes to `log`, apart from what the program over there prints. Nothing is
 * ever asked; a connection that cannot be made, or that nobody answers on any more, ends after a while.
 */
export function sshArgv(settings: SshSettings, log: string): readonly string[] {
  return ['ssh', '-T', '-x', '-E', log, ...sshArguments(settings), bootstrap];
}

/** How to reach the machine, and which it is. */
function sshArguments({ host, user, port, key, password, hostKeys }: SshSettings): readonly string[] {
  const asking = password === null ? ['BatchMode=yes'] : ['BatchMode=no', 'NumberOfPasswordPrompts=1'];
  const options = ['ConnectTimeout=15', 'ServerAliveInterval=30', ...asking, ...hostKeyOptions(hostKeys)];
  return [
    ...options.flatMap((option) => ['-o', option]),
    ...(user === null ? [] : ['-l', user]),
    ...(port === null ? [] : ['-p', port]),
    // In the name of a key ssh replaces what begins with a percent sign.
    ...(key === null ? [] : ['-o', 'IdentitiesOnly=yes', '-i', key.replaceAll('%', '%%')]),
    ...['--', host],
  ];
}

function hostKeyOptions(hostKeys: HostKeys | null): readonly string[] {
  if (hostKeys === null) return [];
  if (hostKeys !== 'any') return [`StrictHostKeyChecking=${hostKeys.checking}`];
  return ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'LogLevel=ERROR'];
}

/** Values of which no ssh has ever refused one. */
const plain = {
  name: /^[a-z0-9_][\w.-]*$/i,
  port: /^[1-9]\d{0,3}$/,
  checking: /^(yes|no|ask|off|accept-new)$/,
};

/**
 * What ssh says against the settings; null for nothing. That comes on the error output before ssh heeds its `-E`, where it
 * could be told from what a program on the other machine prints only by the missing connection: so it is asked before one
 * is made, and without the user's configuration, which may run programs. Plain settings are not asked about.
 */
function refusal(settings: SshSettings, args: readonly string[], env: Readonly<Record<string, string>>) {
  if (isPlain(settings)) return null;
  const reason = complaint(['-F', 'none', '-G', ...args], env)
    .trim()
    .split(/\s*\n/)
    .at(-1);
  return reason ? `ssh: ${reason}` : null;
}

/** Empty when ssh is content, and when it cannot be started, which its start for the step will tell. */
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
