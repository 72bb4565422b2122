import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { journalOf } from '../support/background-runs.ts';
import { type DaemonPlace, withDaemons } from '../support/daemon.ts';

const sleeping = 'steps:\n  - {name: sleep, command: sleep 30}\n';

test('a daemon that stops its runs leaves those without a process to the next one', () =>
  withDaemons({ 'a.yaml': sleeping }, async (place) => {
    const { act, end } = await place.serve('--on-shutdown', 'stop', '--max-concurrent-runs', '40');
    const runIds = Array.from({ length: 40 }, (_, index) => `run-${index}`);
    await Promise.all(runIds.map((runId) => act('a', { action: 'start', 'request-id': runId })));
    expect((await end('SIGTERM')).code).toBe(0);

    const runs = await place.json<readonly RunSummary[]>('history', '--limit', '100');
    const isOwned = ({ runId }: RunSummary) => journalOf(place, runId).some(({ type }) => type === 'run.owned');
    expect(runs).toHaveLength(40);
    expect(runs.map(({ status }) => status)).toEqual(runs.map((run) => (isOwned(run) ? 'canceled' : 'queued')));
  }));

test('a daemon stops its runs although the snapshot of one is damaged', () =>
  withDaemons({ 'a.yaml': sleeping }, async (place) => {
    const { act, end } = await place.serve('--on-shutdown', 'stop');
    for (const runId of ['damaged', 'sound']) await act('a', { action: 'start', 'request-id': runId });
    for (const runId of ['damaged', 'sound'])
      await expect.poll(() => statusOf(place, runId), { timeout: 20_000 }).toBe('running');
    writeFileSync(join(place.runsDir, 'damaged', 'snapshot.json'), 'x');

    expect((await end('SIGTERM')).code).toBe(0);
    expect([await statusOf(place, 'damaged'), await statusOf(place, 'sound')]).toEqual(['canceled', 'canceled']);
  }));

async function statusOf(place: DaemonPlace, runId: string): Promise<string> {
  return (await place.json<RunSummary>('status', runId)).status;
}
