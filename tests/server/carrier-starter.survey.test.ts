import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { readProcess } from '../../src/processes/process-table.ts';
import { eventually, journalOf, untilOver } from '../support/background-runs.ts';
import { type Daemon, type DaemonPlace, withDaemons } from '../support/daemon.ts';

const waiting = `steps:
  - name: wait
    command: sh -c 'while test ! -e go; do sleep 0.05; done'
`;

/** Starts a run that waits for the file `go`, and returns its id and the process that started its carrier. */
async function startRun(
  place: DaemonPlace,
  daemon: Daemon,
): Promise<{ readonly runId: string; readonly parent: number }> {
  const runId = `run-${randomUUID()}`;
  expect((await daemon.act('w', { action: 'start', 'request-id': runId })).status).toBe(200);
  const owner = await eventually(async () => {
    if (!journalOf(place, runId).some(({ type }) => type === 'step.started')) return null;
    return (await place.json('status', runId)).owner;
  });
  return { runId, parent: readProcess(owner.pid)?.parent ?? 0 };
}

test('a daemon starts runs from a small process, and continues without it if that is killed', () =>
  withDaemons({ 'w.yaml': waiting }, async (place) => {
    const daemon = await place.serve();
    const own = daemon.process.pid;
    const runIds: string[] = [];
    const start = async () => {
      const { runId, parent } = await startRun(place, daemon);
      runIds.push(runId);
      return parent;
    };
    // The starter opens with the first run.
    expect(await start()).toBe(own);
    const starter = await eventually(async () => {
      const parent = await start();
      return parent !== own && parent;
    });
    expect(readProcess(starter)?.parent).toBe(own);

    process.kill(starter, 'SIGKILL');
    await eventually(async () => (await start()) === own);
    place.write('go', '');
    for (const runId of runIds) await untilOver(place, runId, 'succeeded');
    expect((await daemon.end('SIGTERM')).code).toBe(0);
  }));

test('the small process ends with its daemon, and the runs that it started continue', () =>
  withDaemons({ 'w.yaml': waiting }, async (place) => {
    const daemon = await place.serve();
    const runIds: string[] = [];
    const starter = await eventually(async () => {
      const { runId, parent } = await startRun(place, daemon);
      runIds.push(runId);
      return parent !== daemon.process.pid && parent;
    });
    await daemon.end('SIGKILL');
    await eventually(() => readProcess(starter) === null);
    place.write('go', '');
    for (const runId of runIds) await untilOver(place, runId, 'succeeded');
  }));
