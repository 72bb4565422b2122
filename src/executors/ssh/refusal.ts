import type { SshSettings } from './argv.ts';

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
export function refusal(settings: SshSettings, args: readonly string[], env: Readonly<Record<string, string>>) {
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
