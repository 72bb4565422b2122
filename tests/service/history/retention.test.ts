import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Workflow } from '#core/workflow.ts';
import { localJudge } from '#engine/local/local-engine.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createHistory } from '#service/history/history.ts';
import { applyRetention, type RetentionReport, type RetentionRequest } from '#service/history/removal.ts';
import { createFileStore } from '#store/files/file-store.ts';
import type { RunJournal } from '#store/store.ts';
import { closeLog, oneLog, temporaryDirectory } from '../../store/world.ts';
import { step, workflow } from '../../support/workflow.ts';

const day = 86_400_000;
const now = Date.UTC(2026, 5, 1);

/** A store with functions that create runs of a given age in days. */
function world() {
  const root = temporaryDirectory();
  const runsDir = join(root, 'runs');
  const store = createFileStore({ runsDir, identify, isAlive });
  const clock = { now: () => now, elapsed: () => now, setTimer: () => () => {} };
  const processes = { find: () => [], end: async () => {} };
  const judge = localJudge({ archive: store, isAlive });
  const history = createHistory({ archive: store, clock, judge, processes }, { cwd: '/', any: true });
  let count = 0;
  const begin = (ageDays: number, settings: Partial<Workflow> = {}, retryOf: string | null = null): RunJournal => {
    const runId = uuid(now - ageDays * day, count++);
    const made = workflow({ name: 'etl', file: '/dags/etl.yaml', steps: [step('load')], ...settings });
    const journal = store.create({ runId, workflow: made, sources: [] }, { logDir: settings.logDir ?? null });
    const { name, group, file } = made;
    const at = now - ageDays * day;
    const owner = { ...(identify(process.pid) ?? { pid: process.pid, startTime: null, boot: null }), host: 'here' };
    journal.append([
      { type: 'run.created', at, runId, workflow: name, group, file, trigger: 'cli', retryOf, params: [] },
      { type: 'run.owned', at, owner },
    ]);
    const { log } = journal.logs.open('load', 1, oneLog);
    writeFileSync(log.stdoutFd, 'x'.repeat(5000));
    closeLog(log);
    return journal;
  };
  const end = async (journal: RunJournal, ageDays: number): Promise<string> => {
    const at = now - ageDays * day;
    journal.append([{ type: 'run.finished', at, status: 'succeeded', reason: null, message: '' }]);
    await journal.close();
    return journal.runId;
  };
  const make = (ageDays: number, settings: Partial<Workflow> = {}, retryOf: string | null = null) =>
    end(begin(ageDays, settings, retryOf), ageDays);
  const apply = (request: Partial<RetentionRequest> = {}, archive = store): Promise<RetentionReport> =>
    applyRetention(
      {
        rule: { type: 'settings', keepRuns: null },
        workflow: null,
        dryRun: false,
        spare: null,
        signal: new AbortController().signal,
        ...request,
      },
      { archive, history, clock, judge, reach: { cwd: '/', any: true } },
    );
  const gone = async (request: Partial<RetentionRequest> = {}) =>
    (await apply(request)).removed.map(({ runId }) => runId);
  return { root, runsDir, store, begin, end, make, apply, gone };
}

function uuid(time: number, number: number): string {
  const head = time.toString(16).padStart(12, '0');
  return `${head.slice(0, 8)}-${head.slice(8)}-7000-8000-${String(number).padStart(12, '0')}`;
}

function asked(keep: number | null, olderThanDays: number | null): Partial<RetentionRequest> {
  return { rule: { type: 'asked', keep, olderThanMs: olderThanDays === null ? null : olderThanDays * day } };
}

describe('retention removes', () => {
  test('runs older than their workflow allows, oldest first, but never its last one', async () => {
    const { store, make, gone } = world();
    const [old, older] = [await make(31), await make(40)];
    const kept = await make(29);
    const short = { name: 'short', file: '/dags/short.yaml', histRetentionDays: 1 };
    const [shortOld, shortLast] = [await make(20, short), await make(10, short)];
    const lone = await make(400, { name: 'lone', file: null });
    expect((await gone()).toSorted()).toEqual([older, old, shortOld].toSorted());
    expect(store.list().toSorted()).toEqual([kept, shortLast, lone].toSorted());
    expect(await gone()).toEqual([]);
  });

  test('all but the last with histRetentionDays 0', async () => {
    const { make, gone } = world();
    const none = { histRetentionDays: 0 };
    const runs = [await make(3, none), await make(2, none), await make(1, none)];
    expect(await gone()).toEqual(runs.slice(0, 2));
  });

  test('all beyond the newest with histRetentionRuns, whatever their age', async () => {
    const { make, gone } = world();
    const some = { histRetentionDays: 1, histRetentionRuns: 2 };
    const runs = [await make(90, some), await make(60, some), await make(40, some)];
    expect(await gone({ rule: { type: 'settings', keepRuns: null } })).toEqual(runs.slice(0, 1));
    expect(await gone({ rule: { type: 'settings', keepRuns: 1 } })).toEqual(runs.slice(1, 2));
  });

  test('none for its age with histRetentionDays below 0', async () => {
    const { make, gone } = world();
    const all = { histRetentionDays: -1 };
    const runs = [await make(4000, all), await make(31, all), await make(1, all)];
    expect(await gone()).toEqual([]);
    expect(await gone({ rule: { type: 'settings', keepRuns: 1 } })).toEqual(runs.slice(0, 2));
  });

  test('only the artifacts of runs that keep them for fewer days, and never those of the last run', async () => {
    const { store, begin, end, apply } = world();
    const short = { artifactRetentionDays: 2 };
    const keeping = (age: number, retryOf: string | null = null) => {
      const journal = begin(age, short, retryOf);
      const staged = journal.artifacts?.stage() ?? '';
      writeFileSync(join(staged, 'a'), 'x'.repeat(5000));
      journal.artifacts?.replace('load', staged);
      return journal;
    };
    const whole = await end(keeping(40), 40);
    const [old, young] = [await end(keeping(3), 3), await end(keeping(1), 1)];
    const without = await end(begin(5, short), 5);
    const retried = await end(keeping(4), 4);
    const running = begin(0, short, retried);
    const exist = (runId: string) => store.read(runId)?.artifacts.exist();
    const planned = await apply({ dryRun: true });
    expect(planned.removed.map(({ runId, part }) => [runId, part])).toEqual([
      [whole, undefined],
      [old, 'artifacts'],
    ]);
    expect((await apply({ rule: { type: 'asked', keep: null, olderThanMs: 365 * day } })).removed).toEqual([]);
    const { removed, freedBytes } = await apply();
    expect({ removed, freedBytes }).toEqual({ removed: planned.removed, freedBytes: planned.freedBytes });
    expect([old, young, without, retried].map(exist)).toEqual([false, true, false, true]);
    expect(store.read(old)?.logs.streams('load', 1)).toEqual(store.read(young)?.logs.streams('load', 1));
    expect((await apply()).removed).toEqual([]);
    await running.close();
  });

  test('according to the file of the latest run', async () => {
    const { make, gone } = world();
    const old = await make(20, { histRetentionDays: 100 });
    await make(1, { histRetentionDays: 10 });
    expect(await gone()).toEqual([old]);
  });

  test('runs beyond a number in the settings, whatever their age', async () => {
    const { make, gone } = world();
    const runs = [await make(5), await make(4), await make(3), await make(2)];
    expect(await gone({ rule: { type: 'settings', keepRuns: 2 } })).toEqual(runs.slice(0, 2));
    expect(await gone({ rule: { type: 'settings', keepRuns: 1 } })).toEqual(runs.slice(2, 3));
  });

  test('requested runs: beyond a number, older than a time, or both', async () => {
    const { make, gone } = world();
    const runs = [await make(9), await make(8), await make(7), await make(6), await make(5)];
    expect(await gone({ ...asked(3, 8.5), dryRun: true })).toEqual(runs.slice(0, 1));
    expect(await gone({ ...asked(4, 0), dryRun: true })).toEqual(runs.slice(0, 1));
    expect(await gone({ ...asked(3, null), dryRun: true })).toEqual(runs.slice(0, 2));
    expect(await gone({ ...asked(null, 5.5), dryRun: true })).toEqual(runs.slice(0, 4));
    expect(await gone(asked(null, 0))).toEqual(runs.slice(0, 4));
  });

  test('runs of one workflow, except a spared one', async () => {
    const { make, gone } = world();
    const other = { name: 'other', file: '/dags/other.yaml' };
    const [spared, old] = [await make(50), await make(45)];
    await make(1);
    const [otherOld] = [await make(60, other), await make(1, other)];
    expect(await gone({ workflow: 'etl', spare: spared })).toEqual([old]);
    expect(await gone({ workflow: '/dags/other.yaml' })).toEqual([otherOld]);
  });

  test('no run that is running, ended recently, or is retried by a running one', async () => {
    const { store, begin, end, make, gone } = world();
    const retried = await make(90);
    const long = begin(80);
    const running = begin(70);
    const old = await make(60);
    const retry = begin(1, {}, retried);
    expect(await gone()).toEqual([old]);
    await end(long, 2);
    expect(await gone()).toEqual([]);
    expect(store.list()).toContain(long.runId);
    await end(running, 40);
    await end(retry, 1);
    expect(await gone()).toEqual([retried, running.runId]);
  });

  test('no run that waits in the queue', async () => {
    const { store, make, gone } = world();
    const runId = uuid(now - 90 * day, 99);
    const by = { pid: process.pid, startTime: null, boot: null, host: 'here' };
    const name = { workflow: 'etl', group: '', file: '/dags/etl.yaml' };
    const snapshot = { runId, workflow: workflow({ name: 'etl', file: name.file }), sources: [] };
    const created = { type: 'run.created', at: 1, runId, ...name, trigger: 'api', retryOf: null, params: [] } as const;
    const events = [created, { type: 'run.queued', at: 1, by, lasting: true } as const];
    await store.accept({ snapshot, logDir: null, events, launch: '{}' });
    const old = await make(80);
    await make(1);
    expect(await gone(asked(1, null))).toEqual([old]);
    store.openForRecovery(runId);
  });

  test('a run whose process has died, after settling it', async () => {
    const { runsDir, begin, make, gone, store } = world();
    const lost = begin(50);
    await make(1);
    const path = join(runsDir, lost.runId, 'journal.jsonl');
    expect(await gone()).toEqual([]);
    rmSync(join(runsDir, lost.runId, 'owner'));
    writeFileSync(path, `${readFileSync(path, 'utf8').split('\n')[0]}\n`);
    expect(await gone()).toEqual([lost.runId]);
    expect(store.list()).toHaveLength(1);
  });

  test('empty directories and damaged runs', async () => {
    const { runsDir, make, gone } = world();
    const runs = [await make(50), await make(49), await make(48), await make(47)] as const;
    await make(1);
    rmSync(join(runsDir, runs[0], 'snapshot.json'));
    rmSync(join(runsDir, runs[1], 'journal.jsonl'));
    writeFileSync(join(runsDir, runs[2], 'journal.jsonl'), Buffer.alloc(3000));
    rmSync(join(runsDir, '.index'));
    const hollow = uuid(now - 60 * day, 77);
    mkdirSync(join(runsDir, hollow));
    const hollowLast = uuid(now - 55 * day, 78);
    mkdirSync(join(runsDir, hollowLast));
    expect((await gone()).toSorted()).toEqual([...runs, hollow].toSorted());
    expect(existsSync(join(runsDir, hollowLast))).toBe(true);
  });
});

describe('a removal', () => {
  test('as a dry run reports the same and changes nothing', async () => {
    const { root, make, apply } = world();
    const logDir = join(root, 'logs');
    await make(50, { logDir });
    await make(40);
    await make(1);
    const before = tree(root);
    const dry = await apply({ dryRun: true });
    expect(tree(root)).toEqual(before);
    const real = await apply();
    expect(dry.removed.map(({ runId, bytes }) => [runId, bytes > 5000])).toEqual(
      real.removed.map(({ runId }) => [runId, true]),
    );
    expect(real.removed).toHaveLength(2);
    expect(real.freedBytes).toBeGreaterThan(10_000);
    expect(Math.abs(real.freedBytes - dry.freedBytes)).toBeLessThan(20_000);
  });

  test('with external logs removes only files that the run has written', async () => {
    const { root, make, apply } = world();
    const logDir = join(root, 'logs');
    const old = await make(50, { logDir });
    const kept = await make(1, { logDir });
    const directory = join(logDir, 'etl', old);
    writeFileSync(join(directory, 'notes.txt'), 'mine');
    writeFileSync(join(directory, '00001-other.1.out'), 'not of this workflow');
    mkdirSync(join(directory, '00001-load.2.out'));
    expect((await apply()).problems).toEqual([]);
    expect(readdirSync(directory).toSorted()).toEqual(['00001-load.2.out', '00001-other.1.out', 'notes.txt']);
    expect(readdirSync(join(logDir, 'etl', kept))).toEqual(['00001-load.1.out']);
  });

  test('removes an empty directory of external logs', async () => {
    const { root, make, gone } = world();
    const old = await make(50, { logDir: join(root, 'logs') });
    await make(1);
    expect(await gone()).toEqual([old]);
    expect(readdirSync(join(root, 'logs/etl'))).toEqual([]);
  });

  test('never follows links', async () => {
    const { root, runsDir, make, apply } = world();
    const precious = join(root, 'precious');
    const fill = () => {
      mkdirSync(join(precious, 'deep'), { recursive: true });
      writeFileSync(join(precious, '00001-load.1.out'), 'precious');
      writeFileSync(join(precious, 'deep/file'), 'precious');
    };
    fill();
    const before = tree(precious);
    const logDir = join(root, 'logs');
    const other = join(root, 'other');
    const [inside, log, directory, parent] = [
      await make(50),
      await make(49, { logDir }),
      await make(48, { logDir }),
      await make(47, { logDir: other }),
    ];
    await make(1);
    rmSync(join(runsDir, inside, 'logs'), { recursive: true });
    symlinkSync(precious, join(runsDir, inside, 'logs'));
    symlinkSync(join(precious, 'deep/file'), join(runsDir, inside, 'link'));
    unlinkSync(join(logDir, 'etl', log, '00001-load.1.out'));
    symlinkSync(join(precious, '00001-load.1.out'), join(logDir, 'etl', log, '00001-load.1.out'));
    rmSync(join(logDir, 'etl', directory), { recursive: true });
    symlinkSync(precious, join(logDir, 'etl', directory));
    renameSync(join(other, 'etl', parent), join(precious, parent));
    rmSync(join(other, 'etl'), { recursive: true });
    symlinkSync(precious, join(other, 'etl'));
    symlinkSync(precious, join(runsDir, uuid(now - 60 * day, 55)));
    const report = await apply();
    expect(report.removed.map(({ runId }) => runId)).toEqual([inside, log, directory, parent]);
    rmSync(join(precious, parent), { recursive: true });
    expect(tree(precious)).toEqual(before);
    expect(readdirSync(join(logDir, 'etl'))).toEqual([directory]);
  });

  test('stops if the trash is a link', async () => {
    const { root, runsDir, store, make, apply } = world();
    mkdirSync(join(root, 'precious'));
    writeFileSync(join(root, 'precious/file'), 'precious');
    const old = await make(50);
    await make(1);
    symlinkSync(join(root, 'precious'), join(runsDir, '.trash'));
    const { removed, problems } = await apply();
    expect([removed, problems]).toEqual([
      [],
      [`cannot remove "${join(runsDir, old)}": a part of the path is not a directory`],
    ]);
    expect(readdirSync(join(root, 'precious'))).toEqual(['file']);
    expect(store.read(old)?.damage).toEqual([]);
  });

  test('reports unreadable runs and continues', async () => {
    const { runsDir, make, apply } = world();
    const [unreadable, old] = [await make(50), await make(49)];
    await make(1);
    // Even root cannot read a link to itself.
    for (const name of ['snapshot.json', 'journal.jsonl', 'owner']) {
      rmSync(join(runsDir, unreadable, name));
      symlinkSync(name, join(runsDir, unreadable, name));
    }
    const { removed, problems } = await apply();
    expect(removed.map(({ runId }) => runId)).toEqual([old]);
    expect(problems).toEqual([`cannot remove "${join(runsDir, unreadable)}": too many symbolic links`]);
  });

  test('completes a removal interrupted by a crash, with external logs', async () => {
    const { root, runsDir, make, apply } = world();
    const logDir = join(root, 'logs');
    const crashed = await make(50, { logDir });
    await make(1);
    mkdirSync(join(runsDir, '.trash'));
    renameSync(join(runsDir, crashed), join(runsDir, '.trash', `${crashed}~1-abc`));
    mkdirSync(join(runsDir, '.trash/half'));
    writeFileSync(join(runsDir, '.trash/half/file'), 'x');
    const { removed, freedBytes, problems } = await apply();
    expect([removed, problems]).toEqual([[], []]);
    expect(freedBytes).toBeGreaterThan(5000);
    expect([readdirSync(join(runsDir, '.trash')), readdirSync(join(logDir, 'etl'))]).toEqual([[], []]);
  });

  test('keeps external logs that a new run of the same id writes to', async () => {
    const { root, runsDir, begin, make, store, apply } = world();
    const logDir = join(root, 'logs');
    const old = await make(50, { logDir });
    const { workflow: made } = store.read(old) ?? { workflow: workflow() };
    mkdirSync(join(runsDir, '.trash'));
    renameSync(join(runsDir, old), join(runsDir, '.trash/x'));
    const again = store.create({ runId: old, workflow: made, sources: [] }, { logDir });
    closeLog(again.logs.open('load', 1, oneLog).log);
    begin(1);
    await apply();
    expect(readdirSync(join(logDir, 'etl', old))).toEqual(['00001-load.1.out']);
    await again.close();
  });

  test('stops when it is no longer needed', async () => {
    const { store, make, apply } = world();
    await make(50);
    await make(1);
    expect((await apply({ signal: AbortSignal.abort() })).removed).toEqual([]);
    expect(store.list()).toHaveLength(2);
  });

  test('reads the journal of each finished run once', async () => {
    const { store, make, apply } = world();
    const runs = [await make(50), await make(49), await make(48)];
    await make(1);
    const reads: string[] = [];
    const counting = {
      ...store,
      readEvents: (runId: string) => {
        reads.push(runId);
        return store.readEvents(runId);
      },
    };
    await apply({}, counting);
    expect(reads).toEqual(runs);
  });

  test('judges a run again if its journal has changed since', async () => {
    const { runsDir, store, make, apply } = world();
    const old = await make(50);
    await make(1);
    const journal = join(runsDir, old, 'journal.jsonl');
    const started = readFileSync(journal, 'utf8').split('\n').slice(0, 2).join('\n');
    const restarted: typeof store = {
      ...store,
      remove: (runId, mayGo, options) => {
        writeFileSync(journal, `${started}\n`);
        return store.remove(runId, mayGo, options);
      },
    };
    expect((await apply({}, restarted)).removed).toEqual([]);
    expect(store.read(old)?.events.map(({ type }) => type)).toEqual(['run.created', 'run.owned']);
  });

  test('of many runs waits for the files of several runs at once', async () => {
    const { store, make, apply } = world();
    for (let age = 80; age > 40; age--) await make(age);
    await make(1);
    let open = 0;
    let most = 0;
    const counting: typeof store = {
      ...store,
      remove: async (...request) => {
        open += 1;
        most = Math.max(most, open);
        return store.remove(...request).finally(() => {
          open -= 1;
        });
      },
    };
    expect((await apply({}, counting)).removed).toHaveLength(40);
    expect(most).toBe(16);
  });

  test('happens once if several processes remove concurrently', async () => {
    const { runsDir, make, apply, store } = world();
    const runs: string[] = [];
    for (let age = 80; age > 40; age--) runs.push(await make(age));
    await make(1);
    const reports = await Promise.all([apply(), apply(), apply()]);
    expect(reports.flatMap(({ removed }) => removed.map(({ runId }) => runId)).toSorted()).toEqual(runs.toSorted());
    expect(reports.flatMap(({ problems }) => problems)).toEqual([]);
    expect([store.list().length, readdirSync(join(runsDir, '.trash'))]).toEqual([1, []]);
  });
});

describe('cleaning a store', () => {
  test('waits a day at first, and is then due once a day', () => {
    const { runsDir, store } = world();
    mkdirSync(runsDir, { recursive: true });
    const start = Date.now();
    const claims = [0, 1, 23, 25, 26, 48, 50].map((hours) => store.claimTidying(start + hours * 3_600_000, day));
    expect(claims).toEqual([false, false, false, true, false, false, true]);
    expect(lstatSync(join(runsDir, '.tidied')).mode & 0o777).toBe(0o600);
  });

  test('is never due if the store is not writable', () => {
    const { store } = world();
    expect(store.claimTidying(now, day)).toBe(false);
  });
});

/** Every entry with its content. */
function tree(directory: string): readonly string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .map((entry) => {
      const path = join(entry.parentPath, entry.name);
      return `${path} ${entry.isFile() ? readFileSync(path, 'latin1') : ''}`;
    })
    .toSorted();
}
