import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { describeWith, isInstalled } from '../support/require.ts';
import { withDirectory } from '../support/wf.ts';
import { textOf } from './pages.ts';

const deployed = (name: string) => readFileSync(resolve(import.meta.dirname, '../../docs/deploy', name), 'utf8');
const unit = deployed('wf.service');
const worker = deployed('wf-worker.service');
/** A unit with its commented lines activated. */
const strict = (text: string) => text.replace(/^#(?=[A-Z]\w+=)/gm, '');

describeWith('systemd', isInstalled('systemd-analyze'), 'the systemd unit', () => {
  test.each([
    ['the daemon', unit],
    ['a worker', worker],
  ])('of %s is valid, also with all its options', async (_, text) => {
    const all = strict(text);
    expect(all.split('\n').filter((line) => line === 'NoNewPrivileges=yes')).toHaveLength(1);
    expect(await problemsOf(text)).toBe('');
    expect(await problemsOf(all)).toBe('');
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

test('the systemd unit of a worker signals the worker alone, and waits for its steps', async () => {
  const lines = worker.split('\n');
  expect(lines).toEqual(expect.arrayContaining(['KillMode=mixed', 'StateDirectory=wf-worker']));
  const [, wait] = /^TimeoutStopSec=(\d+)$/m.exec(worker) ?? [];
  const [, drain] = /--drain <seconds>.*? by default (\d+)/s.exec(textOf('docs/reference/command-line.md')) ?? [];
  expect(Number(wait)).toBeGreaterThan(Number(drain));
});

test('the compose file serves this machine alone, and has no password', () => {
  const { services } = parse(deployed('temporal.compose.yaml'));
  expect(services.temporal.ports).toEqual(['127.0.0.1:7233:7233']);
  expect(services.postgresql.ports).toBeUndefined();
  const password = '${POSTGRES_PASSWORD:?set POSTGRES_PASSWORD}';
  expect([services.temporal.environment.POSTGRES_PWD, services.postgresql.environment.POSTGRES_PASSWORD]).toEqual([
    password,
    password,
  ]);
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
