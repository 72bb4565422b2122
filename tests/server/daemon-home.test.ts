import { existsSync, readFileSync, renameSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { withDaemons } from '../support/daemon.ts';

const files = { 'w.yaml': 'steps: [{name: a, command: "true"}]\n' };
const homeOf = ({ runsDir }: { readonly runsDir: string }) => join(runsDir, '..');

/** The daemon may write while its home is removed. */
const removeHome = (place: { readonly runsDir: string }) =>
  rm(homeOf(place), { recursive: true, maxRetries: 100, retryDelay: 20 });

test.each([
  ['removed', removeHome],
  ['moved', async (place: { readonly runsDir: string }) => renameSync(homeOf(place), `${homeOf(place)}.old`)],
])('a daemon whose home was %s ends with the reason and leaves no other home', (_, change) =>
  withDaemons(files, async (place) => {
    const daemon = await place.serve('--require-login');
    await change(place);
    const { code, stderr } = await daemon.process.ended;
    const reason = `"${join(homeOf(place), 'daemon')}" was removed, moved or replaced while the daemon was running`;
    const help = 'move the old directory back if it still exists, then start the daemon again';
    expect([code, stderr]).toEqual([2, `error: ${reason}\n  help: ${help}\n`]);
    expect(existsSync(homeOf(place))).toBe(false);
  }),
);

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
