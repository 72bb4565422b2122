import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { describeWith, isInstalled } from '../support/require.ts';
import { withDirectory } from '../support/wf.ts';

const unit = readFileSync(resolve(import.meta.dirname, '../../docs/deploy/wf.service'), 'utf8');
/** The unit with its commented lines activated. */
const strict = unit.replace(/^#(?=[A-Z]\w+=)/gm, '');

describeWith('systemd', isInstalled('systemd-analyze'), 'the systemd unit', () => {
  test('is valid, also with all its options', async () => {
    expect(strict.split('\n').filter((line) => line === 'NoNewPrivileges=yes')).toHaveLength(1);
    expect(await problemsOf(unit)).toBe('');
    expect(await problemsOf(strict)).toBe('');
  });

  test('is checked for errors', async () => {
    expect(await problemsOf(unit.replace('KillMode=process', 'KillMode=proces'))).toContain('kill mode');
    expect(await problemsOf(unit.replace('OOMPolicy', 'OOMPolice'))).toContain("Unknown key 'OOMPolice'");
  });
});

test('the systemd unit leaves runs alone, and sudo to the steps', () => {
  const lines = unit.split('\n').filter((line) => !line.startsWith('#'));
  const keys = lines.map((line) => line.split('=')[0]);
  expect(lines).toEqual(expect.arrayContaining(['KillMode=process', 'Restart=on-failure', 'StateDirectory=wf']));
  // Each of these affects runs that outlive the daemon, or prevents them from changing the user.
  const harmful =
    /^(PrivateTmp|RuntimeDirectory|DynamicUser|NoNewPrivileges|Restrict\w+|SystemCall\w+|PrivateDevices|MemoryDenyWriteExecute|ProtectKernel\w+|ProtectClock|ProtectHostname|LockPersonality)$/;
  expect(keys.filter((key) => harmful.test(key ?? ''))).toEqual([]);
});

/** What systemd has to say about a unit, on a machine where `wf` is some program that exists. */
async function problemsOf(text: string): Promise<string> {
  return withDirectory(async (directory) => {
    const file = join(directory, 'wf.service');
    writeFileSync(file, text.replace('/usr/local/bin/wf', process.execPath));
    const { stdout, stderr, status } = spawnSync('systemd-analyze', ['verify', '--man=no', file], { encoding: 'utf8' });
    return `${stdout}${stderr}${status === 0 ? '' : `exit ${status}`}`;
  });
}
