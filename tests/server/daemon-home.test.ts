import { existsSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { eventually } from '../support/background-runs.ts';
import { withDaemons } from '../support/daemon.ts';

const files = { 'w.yaml': 'steps: [{name: a, command: "true"}]\n' };
const homeOf = ({ runsDir }: { readonly runsDir: string }) => join(runsDir, '..');

/** The daemon may write while its home is removed. */
const removeHome = (place: { readonly runsDir: string }) =>
  rm(homeOf(place), { recursive: true, maxRetries: 100, retryDelay: 20 });

test('a daemon whose home was removed claims it again, so that no second daemon starts', () =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve('--require-login');
    const token = join(homeOf(place), 'daemon/token');
    const kept = readFileSync(token, 'utf8');
    await removeHome(place);
    await eventually(async () => existsSync(token));
    expect(readFileSync(token, 'utf8')).toBe(kept);
    const second = await place.launch().ended;
    expect([second.code, second.stderr]).toEqual([2, expect.stringContaining(`, at ${daemon.url}\n`)]);
    const { code, stderr } = await daemon.end('SIGTERM');
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^\S+ the home was removed or replaced: this daemon continues in the new one\n$/),
    ]);
  }));

test('a daemon whose home was taken by another one ends with the reason', () =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve();
    daemon.process.kill('SIGSTOP');
    await removeHome(place);
    const other = await place.serve();
    daemon.process.kill('SIGCONT');
    const { code, stderr } = await daemon.process.ended;
    expect([code, stderr]).toEqual([2, expect.stringContaining('error: a daemon is already running for these runs')]);
    expect(stderr).toContain(`, at ${other.url}\n`);
    const address = JSON.parse(readFileSync(join(homeOf(place), 'daemon/address.json'), 'utf8'));
    expect(address.url).toBe(other.url);
  }));
