import { randomUUID } from 'node:crypto';
import { getPriority } from 'node:os';
import { expect, test } from 'vitest';
import { readProcess } from '#processes/process-identity.ts';
import { eventually, journalOf, untilOver } from '../support/background-runs.ts';
import { type Daemon, type DaemonPlace, withDaemons } from '../support/daemon.ts';
import { loweredBy, sessionPriority } from '../support/priorities.ts';

const waiting = `steps:
  - name: wait
    command: sh -c 'while test ! -e go; do sleep 0.05; done'
`;

/** A run, its carrier, and the process that started the carrier. */
type Started = { readonly runId: string; readonly carrier: number; readonly parent: number };

/** Starts a run that waits for the file `go`. */
async function startRun(place: DaemonPlace, daemon: Daemon): Promise<Started> {
  const runId = `run-${randomUUID()}`;
  expect((await daemon.act('w', { action: 'start', 'request-id': runId })).status).toBe(200);
  const owner = await eventually(async () => {
    if (!journalOf(place, runId).some(({ type }) => type === 'step.started')) return null;
    return (await place.json('status', runId)).owner;
  });
  return { runId, carrier: owner.pid, parent: readProcess(owner.pid)?.parent ?? 0 };
}

/** Starts runs until one has been started by the small process; returns all, that one last. */
async function startRuns(place: DaemonPlace, daemon: Daemon): Promise<readonly [...Started[], Started]> {
  const started: Started[] = [];
  const last = await eventually(async () => {
    started.push(await startRun(place, daemon));
    return started.at(-1)?.parent !== daemon.process.pid && started.at(-1);
  });
  return [...started.slice(0, -1), last];
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
    const started = await startRuns(place, daemon);
    const { carrier, parent } = started.at(-1) as Started;
    // A signal to continue it comes with SIGHUP, if the system sends one.
    process.kill(carrier, 'SIGSTOP');
    await daemon.end('SIGKILL');
    await eventually(() => readProcess(parent) === null);
    process.kill(carrier, 'SIGCONT');
    place.write('go', '');
    for (const { runId } of started) await untilOver(place, runId, 'succeeded');
  }));

test('runs share the session of the small process, whose priority stays when theirs is lowered', () =>
  withDaemons({ 'w.yaml': waiting }, async (place) => {
    const daemon = await place.serve();
    const started = await startRuns(place, daemon);
    const { carrier, parent } = started.at(-1) as Started;
    await eventually(() => getPriority(carrier) === loweredBy(10));
    expect(readProcess(carrier)).toMatchObject({ session: parent, group: parent });
    expect(sessionPriority(carrier)).toBe('0');
    place.write('go', '');
    for (const { runId } of started) await untilOver(place, runId, 'succeeded');
    expect((await daemon.end('SIGTERM')).code).toBe(0);
  }));
