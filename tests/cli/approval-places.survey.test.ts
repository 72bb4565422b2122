import { expect, it } from 'vitest';
import { type DaemonPlace, withDaemons } from '../support/daemon.ts';

const gate = 'queue: db\nsteps:\n  - {name: go, approval: true}\n';
const quick = 'queue: db\nsteps:\n  - {name: a, command: echo quick}\n';

async function statusOf({ json }: DaemonPlace, id: string) {
  return (await json('status', id)).status;
}

it('takes no place of the daemon or its queue while only approvals are pending', async () => {
  await withDaemons({ 'gate.yaml': gate, 'quick.yaml': quick }, async (place) => {
    const daemon = await place.serve('--max-concurrent-runs', '1');
    const at = ['--server', daemon.url];
    const start = (name: string, id: string) => place.wf('run', name, '--run-id', id, '--detach', ...at);
    expect((await start('gate', 'g')).code).toBe(0);
    expect((await start('quick', 'q1')).code).toBe(0);
    await expect.poll(() => statusOf(place, 'q1'), { timeout: 15_000 }).toBe('succeeded');
    expect(await place.json('status', 'g')).toMatchObject({ status: 'running', waitingFor: ['go'] });
    // The next daemon takes over the run, with the same room for others.
    expect((await daemon.end('SIGTERM')).code).toBe(0);
    const next = await place.serve('--max-concurrent-runs', '1');
    at[1] = next.url;
    expect((await start('quick', 'q2')).code).toBe(0);
    await expect.poll(() => statusOf(place, 'q2'), { timeout: 15_000 }).toBe('succeeded');
    expect((await place.wf('approve', 'g', ...at)).code).toBe(0);
    await expect.poll(() => statusOf(place, 'g')).toBe('succeeded');
  });
});
