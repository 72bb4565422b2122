import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { ProcessIdentity, ProcessOwner } from '#core/run/run.ts';
import { LateStarts } from '#daemon/late-starts.ts';
import { createLocalEngine, localJudge } from '#engine/local/local-engine.ts';
import { queueRun as storeQueued } from '#engine/local/new-run.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createHistory } from '#service/history/history.ts';
import { stopRun } from '#service/runs/end-run.ts';
import { cancelQueued, claimRun, recordLate, refuseQueued, storeRun } from '#service/runs/queued-run.ts';
import { runRequest, type StartRequest } from '#service/runs/start-run.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { systemClock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { withDirectory } from '../../support/wf.ts';
import { step, workflow } from '../../support/workflow.ts';

const dead: ProcessOwner = { pid: 4_194_305, startTime: 1, boot: 'another boot', host: 'example' };
const living: ProcessOwner = { ...(identify(process.pid) ?? dead), host: 'example' };

const asked: StartRequest = {
  workflow: workflow({
    name: 'etl',
    params: [{ name: 'TOKEN', value: '' }],
    steps: [step('load')],
    secrets: [{ name: 'TOKEN', env: null, file: null }],
  }),
  sources: [{ path: '/etl.yaml', text: 'steps: []\n' }],
  warnings: [],
  params: [{ name: 'TOKEN', value: 'very-secret-value' }],
  runId: 'r1',
  trigger: 'api',
};

const byAnn = { by: 'ann', kill: 'never' } as const;

/** The engine over a store, which reaches no process unless `signalStop` does. */
function engineOf(
  store: ReturnType<typeof createFileStore>,
  signalStop: (owner: ProcessOwner, force: boolean) => boolean = () => false,
) {
  const start = { store: () => Promise.reject(new Error('not in this test')), begin: () => Promise.resolve() };
  const judge = localJudge({ archive: store, isAlive });
  return createLocalEngine({
    ...start,
    judge,
    archive: store,
    control: store,
    clock: systemClock,
    wake: () => {},
    signalStop,
  });
}

type World = Awaited<ReturnType<typeof worldIn>>;

/** Runs in a directory, as seen by this process or, with `as`, by one that has died since. */
function worldIn(directory: string) {
  const runsDir = join(directory, 'runs');
  const seenBy = (as: ProcessIdentity | null) => {
    const store = createFileStore({ runsDir, identify: (pid) => as ?? identify(pid), isAlive });
    const processes = { find: () => [], end: () => Promise.resolve() };
    const clock = systemClock;
    const judge = localJudge({ archive: store, isAlive });
    const history = createHistory({ archive: store, clock, judge, processes }, { cwd: directory, any: true });
    const engine = engineOf(store);
    return { archive: store, queue: store, control: store, clock, history, engine };
  };
  const accept = (by: ProcessOwner, lasting: boolean, request = asked) =>
    storeRun(
      runRequest(request),
      { env: { HOME: '/home/ann', WF_RUN_ID: 'outer' }, cwd: directory, dags: null, isDaemon: false },
      (run, kept) => storeQueued(run, { queue: seenBy(by).queue, clock: systemClock, by, lasting, ...kept }),
    );
  return { runsDir, seenBy, accept, path: (name: string) => join(runsDir, 'r1', name), ...seenBy(null) };
}

function withWorld<T>(use: (world: World) => Promise<T>): Promise<T> {
  return withDirectory((directory) => use(worldIn(directory)));
}

async function refusal(work: Promise<unknown>): Promise<readonly [string, string]> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof WfError) return [error.code, error.message];
  throw new Error('nothing was refused', { cause: error });
}

describe('a queued run', () => {
  it('keeps its launch data in a private file, and secrets only there', async () => {
    await withWorld(async ({ accept, path, history }) => {
      await accept(living, false);
      expect(statSync(path('scratch/launch.json')).mode & 0o777).toBe(0o600);
      expect(readFileSync(path('scratch/launch.json'), 'utf8')).toContain('very-secret-value');
      for (const name of ['journal.jsonl', 'snapshot.json', 'sources.json', 'owner'])
        expect(readFileSync(path(name), 'utf8')).not.toContain('very-secret-value');
      const run = await history.read('r1');
      expect(run?.state).toMatchObject({ status: 'queued', owner: null, promise: { by: living, lasting: false } });
    });
  });

  it('is recorded as late once, and waits as before', async () => {
    await withWorld(async (world) => {
      await world.accept(living, true);
      expect([await recordLate('r1', world), await recordLate('r1', world)]).toEqual([true, false]);
      const { state, stored } = (await world.history.read('r1')) ?? {};
      expect(stored?.events.map(({ type }) => type)).toEqual(['run.created', 'run.queued', 'run.late']);
      expect([state?.status, state?.promise?.lasting, world.archive.mayGoOn('r1')]).toEqual(['queued', true, true]);
      const claimed = await claimRun('r1', world);
      expect(await recordLate('r1', world)).toBe(false);
      await claimed.taken.journal.close();
    });
  });

  it('is late once, whichever daemons see it wait', async () => {
    await withWorld(async (world) => {
      const late = { ...asked, trigger: 'schedule', moment: { scheduledFor: 0 } } as const;
      await world.accept(living, true, { ...late, workflow: { ...asked.workflow, late: { afterMs: 60_000 } } });
      const lines: string[] = [];
      const failures: unknown[] = [];
      for (const daemon of ['first', 'second', 'third']) {
        const recorded: Promise<boolean>[] = [];
        const starts = new LateStarts({
          clock: systemClock,
          readCreated: world.archive.readCreated,
          isQueued: () => true,
          record: (runId) => {
            const work = recordLate(runId, world);
            recorded.push(work);
            return work;
          },
          log: (line) => void lines.push(`${daemon}: ${line}`),
          report: (error) => void failures.push(error),
        });
        for (let look = 0; look < 3; look += 1) starts.check('r1');
        expect(recorded.length).toBe(1);
        await Promise.all(recorded);
      }
      const events = (await world.history.read('r1'))?.stored?.events ?? [];
      expect([events.filter(({ type }) => type === 'run.late').length, lines, failures]).toEqual([
        1,
        ['first: run r1 is late: it has not started'],
        [],
      ]);
    });
  });

  it('is accepted once per id', async () => {
    await withWorld(async ({ accept }) => {
      const all = await Promise.all(Array.from({ length: 20 }, () => accept(living, false)));
      expect(all.map(({ runId }) => runId)).toEqual(all.map(() => 'r1'));
      expect(all.filter(({ isNew }) => isNew).length).toBe(1);
    });
  });

  it('is claimed by only one process, with all of its launch data', async () => {
    await withWorld(async (world) => {
      await world.accept(living, false);
      const claims = await Promise.allSettled(Array.from({ length: 5 }, () => claimRun('r1', world)));
      const claimed = claims.flatMap((claim) => (claim.status === 'fulfilled' ? [claim.value] : []));
      expect(claimed.length).toBe(1);
      const [only] = claimed;
      expect(only?.launch.request).toMatchObject({ runId: 'r1', params: asked.params, workflow: asked.workflow });
      expect(only?.launch.context.env).toEqual({ HOME: '/home/ann' });
      only?.begun();
      expect(existsSync(world.path('scratch/launch.json'))).toBe(false);
      await only?.taken.journal.close();
    });
  });

  it('is lost after the death of the process that promised to start it, unless that was a daemon', async () => {
    await withWorld(async ({ accept, history, path, archive }) => {
      await accept(dead, true);
      expect((await history.read('r1'))?.state.status).toBe('queued');
      await accept(dead, false, { ...asked, runId: 'r2' });
      expect(archive.mayGoOn('r2')).toBe(true);
      const { state } = (await history.read('r2')) ?? {};
      expect([state?.status, state?.reason, state?.message]).toEqual([
        'failed',
        'lost',
        'process 4194305 died before it could start it',
      ]);
      expect(existsSync(path('../r2/scratch'))).toBe(false);
      expect([archive.mayGoOn('r1'), archive.mayGoOn('r2')]).toEqual([true, false]);
    });
  });

  it('can be claimed again after its carrier died right after the claim', async () => {
    await withWorld(async (world) => {
      await world.accept(dead, true);
      await claimRun('r1', world.seenBy(dead));
      expect((await world.history.read('r1'))?.state.status).toBe('queued');
      const claimed = await claimRun('r1', world);
      expect(claimed.launch.request.params).toEqual(asked.params);
      await claimed.taken.journal.close();
    });
  });

  it('is lost if both its carrier and the process that promised to start it have died', async () => {
    await withWorld(async (world) => {
      await world.accept(dead, false);
      await claimRun('r1', world.seenBy(dead));
      expect((await world.history.read('r1'))?.state).toMatchObject({ status: 'failed', reason: 'lost' });
    });
  });

  it('is not lost while its carrier is about to start it', async () => {
    await withWorld(async (world) => {
      await world.accept(dead, false);
      const claimed = await claimRun('r1', world);
      expect((await world.history.read('r1'))?.state.status).toBe('queued');
      await claimed.taken.journal.close();
    });
  });

  it('is canceled at once by a stop, and cannot be claimed afterwards', async () => {
    await withWorld(async (world) => {
      await world.accept(living, false);
      expect(await stopRun('r1', byAnn, world)).toEqual({ result: 'canceled', forced: false });
      expect((await world.history.read('r1'))?.state).toMatchObject({ status: 'canceled', message: 'stopped by ann' });
      expect(await refusal(claimRun('r1', world))).toEqual([
        'run-exists',
        'run r1 has already finished, canceled: stopped by ann',
      ]);
      expect(await stopRun('r1', byAnn, world)).toEqual({ result: 'over', forced: false });
      expect(await cancelQueued('r1', 'again', world)).toBe(false);
      expect(existsSync(world.path('scratch'))).toBe(false);
    });
  });

  it('keeps a stop request for the carrier that has just claimed it', async () => {
    await withWorld(async (world) => {
      await world.accept(living, false);
      const claimed = await claimRun('r1', world);
      expect(await stopRun('r1', byAnn, world)).toEqual({ result: 'asked', forced: false });
      const heard = await new Promise(
        (resolve) => void claimed.taken.journal.listen({ stop: resolve, answer: () => {}, gone: () => {} }),
      );
      expect(heard).toMatchObject({ by: 'ann', force: false });
      await claimed.taken.journal.close();
    });
  });

  it('fails if it cannot start or its launch data is damaged', async () => {
    await withWorld(async (world) => {
      await world.accept(living, false);
      expect(await refuseQueued('r1', 'no process can be started', world)).toBe(true);
      const { state } = (await world.history.read('r1')) ?? {};
      expect([state?.status, state?.reason, state?.message]).toEqual(['failed', 'error', 'no process can be started']);
      await world.accept(living, false, { ...asked, runId: 'r2' });
      writeFileSync(world.path('../r2/scratch/launch.json'), '{"crc":"00000000","data":"{}"}\n');
      expect((await refusal(claimRun('r2', world)))[0]).toBe('storage');
      expect((await world.history.read('r2'))?.state).toMatchObject({ status: 'failed', reason: 'error' });
    });
  });
});

describe('a stop request', () => {
  it('is escalated, but never reduced, by a later one', async () => {
    await withWorld(async (world) => {
      const journal = world.archive.create({ ...asked, runId: 'r1' }, { logDir: null });
      journal.append([{ type: 'run.owned', at: 0, owner: living }]);
      const ask = async (by: string, force: boolean) => {
        await stopRun('r1', { by, kill: force ? 'now' : 'never' }, world);
        return world.control.readStop('r1');
      };
      expect(await ask('ann', false)).toMatchObject({ by: 'ann', force: false });
      expect(await ask('bob', false)).toMatchObject({ by: 'ann', force: false });
      expect(await ask('cy', true)).toMatchObject({ by: 'cy', force: true });
      expect(await ask('dan', false)).toMatchObject({ by: 'cy', force: true });
      expect(statSync(world.path('stop.json')).mode & 0o777).toBe(0o600);
      await journal.close();
    });
  });

  it('becomes a signal if the disk refuses it', async () => {
    await withWorld(async (world) => {
      const journal = world.archive.create({ ...asked, runId: 'r1' }, { logDir: null });
      journal.append([{ type: 'run.owned', at: 0, owner: living }]);
      const requestStop = () => {
        throw new WfError('storage', 'cannot write a request: no space is left on the device');
      };
      const full = { ...world.control, requestStop };
      const signals: boolean[] = [];
      const signalStop = (owner: ProcessOwner, force: boolean) => signals.push(force) > 0 && owner.pid === process.pid;
      for (const kill of ['never', 'now'] as const) {
        const answer = await stopRun('r1', { by: 'ann', kill }, { ...world, engine: engineOf(full, signalStop) });
        expect(answer).toEqual({ result: 'asked', forced: kill === 'now' });
      }
      expect(signals).toEqual([false, true]);
      expect(await refusal(stopRun('r1', byAnn, { ...world, engine: engineOf(full) }))).toEqual([
        'storage',
        'cannot write a request: no space is left on the device',
      ]);
      await journal.close();
    });
  });
});
