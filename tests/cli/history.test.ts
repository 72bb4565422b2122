import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { noSchedule } from '#core/workflow.ts';
import { localJudge } from '#engine/local/local-engine.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { renderTable } from '#render/text/table.ts';
import { anyRun, createHistory } from '#service/history/history.ts';
import { createSuspensions } from '#store/files/daemon-state.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { systemClock } from '#system/clock.ts';
import { crash, type Place, withPlace } from '../support/past-runs.ts';
import { workflow } from '../support/workflow.ts';

const good = 'steps:\n  - name: a\n    command: echo hello\n';
const bad = `steps:
  - name: fine
    command: echo fine
  - name: broken
    command: sh -c 'echo "it broke" >&2; exit 7'
    depends: fine
  - name: after
    command: echo after
    depends: broken
`;

describe('wf status', () => {
  it('shows the last run, step by step, with its failures', async () => {
    await withPlace({ 'good.yaml': good, 'bad.yaml': bad }, async ({ wf }) => {
      await wf('run', 'good.yaml');
      await wf('run', 'bad.yaml', '--run-id', 'b1');
      const { code, stdout } = await wf('status');
      expect([code, withoutTimes(stdout)]).toEqual([
        0,
        `▶ bad  b1
  <time>
  ✔ fine     0.0s
  ✖ broken   0.0s  exit 7
  ⊘ after          not run: "broken" failed
FAILED bad in 0.0s   1 succeeded · 1 failed · 1 not run
✖ broken   exit 7   bad.yaml:4:5
  │ it broke
  logs: wf logs b1 broken

retry what failed: wf retry b1
`,
      ]);
    });
  });

  it('cuts no name in a pipe', async () => {
    const name = 'a-step-with-a-long-name-'.repeat(3);
    await withPlace({ 'long.yaml': `steps: [{name: ${name}, command: "true"}]\n` }, async ({ wf }) => {
      await wf('run', 'long.yaml');
      expect((await wf('status')).stdout).toContain(`  ✔ ${name} `);
    });
  });

  it('prints one RunSummary as JSON', async () => {
    await withPlace({ 'bad.yaml': bad }, async (place) => {
      await place.wf('run', 'bad.yaml', '--run-id', 'b1');
      const summary = await place.json('status', 'b1');
      expect(summary).toMatchObject({ runId: 'b1', workflow: 'bad', status: 'failed', reason: 'step', trigger: 'cli' });
      expect(summary.steps.map(({ name, status, exitCode }) => [name, status, exitCode])).toEqual([
        ['fine', 'succeeded', 0],
        ['broken', 'failed', 7],
        ['after', 'upstream_failed', null],
      ]);
      expect(readFileSync(summary.steps[0]?.log ?? '', 'utf8')).toBe('fine\n');
    });
  });

  it.each([
    ['a full id', 'b1', 'b1'],
    ['the beginning of an id', 'cc', 'cc-2'],
    ['the last run', '@latest', 'a2'],
    ['the last failed run', '@failed', 'cc-2'],
    ["a workflow's name", 'bad', 'cc-2'],
    ["a workflow's file", './good.yaml', 'a2'],
    ['an id before a workflow of that name', 'a1', 'a1'],
  ])('finds a run by %s', async (_, word, expected) => {
    await withPlace({ 'good.yaml': good, 'bad.yaml': bad, 'a1.yaml': good }, async ({ wf, json }) => {
      const runs = [
        ['good', 'a1'],
        ['bad', 'b1'],
        ['bad', 'cc-2'],
        ['a1', 'd1'],
        ['good', 'a2'],
      ] as const;
      for (const [name, id] of runs) await wf('run', `${name}.yaml`, '--run-id', id);
      expect((await json('status', word)).runId).toBe(expected);
    });
  });

  it('lists the runs of an ambiguous prefix, and names similar to a mistyped one', async () => {
    await withPlace({ 'good.yaml': good }, async ({ cwd, wf }) => {
      expect(await wf('status')).toMatchObject({ code: 2, stderr: 'error: there are no runs yet\n' });
      await wf('run', 'good.yaml', '--run-id', 'run-1');
      await wf('run', 'good.yaml', '--run-id', 'run-2');
      const ambiguous = 'error: "run-" is the prefix of 2 run ids\n  help: run-2 (good), run-1 (good)\n';
      expect(await wf('status', 'run-')).toMatchObject({ code: 2, stdout: '', stderr: ambiguous });
      const mistyped = 'error: no run and no workflow that has run is called "goood"\n  help: did you mean "good"?\n';
      expect(await wf('status', 'goood')).toMatchObject({ code: 2, stdout: '', stderr: mistyped });
      const none = `error: no run of a file below ${cwd} has failed\n  help: --any looks at all runs\n`;
      expect(await wf('status', '@failed')).toMatchObject({ code: 2, stderr: none });
      expect(await wf('status', '@failed', '--any')).toMatchObject({ code: 2, stderr: 'error: no run has failed\n' });
    });
  });

  it('rejects an empty word, even if there is only one run', async () => {
    await withPlace({ 'good.yaml': good }, async ({ wf }) => {
      await wf('run', 'good.yaml', '--run-id', 'run-1');
      const answer = { code: 2, stdout: '', stderr: expect.stringContaining('is called ""') };
      for (const command of ['status', 'stop', 'retry', 'logs']) expect(await wf(command, '')).toMatchObject(answer);
    });
  });

  it('shows a running run', async () => {
    const slow =
      'steps:\n  - name: slow\n    command: sh -c "echo ready; sleep 60"\n  - name: b\n    command: echo b\n    depends: slow\n';
    await withPlace({ 'slow.yaml': slow }, async ({ wf, start, json }) => {
      const run = start('run', 'slow.yaml');
      await run.until('| ready');
      const { status, owner, steps } = await json('status');
      expect([status, owner?.pid, steps.map((step) => step.status)]).toEqual([
        'running',
        run.pid,
        ['running', 'pending'],
      ]);
      expect((await wf('status')).stdout).toMatch(/▶ slow +\ds\n {2}○ b +waits for slow\nRUNNING slow/);
      run.kill('SIGTERM');
      expect((await run.ended).code).toBe(143);
    });
  });
});

describe('wf history', () => {
  it('lists runs, newest first, and filters them', async () => {
    await withPlace({ 'good.yaml': good, 'bad.yaml': bad }, async (place) => {
      for (const name of ['good', 'bad', 'good']) await place.wf('run', `${name}.yaml`);
      const names = async (...flags: readonly string[]) =>
        (await place.json<readonly RunSummary[]>('history', ...flags)).map((run) => run.workflow);
      expect(await names()).toEqual(['good', 'bad', 'good']);
      expect(await names('bad')).toEqual(['bad']);
      expect(await names('--status', 'failed')).toEqual(['bad']);
      expect(await names('--status', 'succeeded', '--status', 'failed', '--limit', '2')).toEqual(['good', 'bad']);
      expect(await names('--last', '1h')).toEqual(['good', 'bad', 'good']);
      expect(await names('--from', '2100-01-01')).toEqual([]);
      expect(await names('--to', '2001-01-01')).toEqual([]);
      expect(await names('--from', '2001-01-01', '--to', '2001-01-01')).toEqual([]);
    });
  });

  it('shows in one line per run its time, status and reason', async () => {
    await withPlace({ 'good.yaml': good, 'bad.yaml': bad }, async ({ wf }) => {
      await wf('run', 'good.yaml', '--run-id', 'g1');
      await wf('run', 'bad.yaml', '--run-id', 'b1');
      const { stdout } = await wf('history');
      expect(withoutTimes(stdout)).toBe(
        [
          'RUN  WORKFLOW  STARTED              STATUS     TIME',
          'b1   bad       <time>  failed     0.0s  broken: exit 7',
          'g1   good      <time>  succeeded  0.0s',
          '',
        ].join('\n'),
      );
    });
  });

  it('is empty for a workflow without runs, and exit code 2 for an unknown one', async () => {
    await withPlace({ 'good.yaml': good }, async ({ wf }) => {
      expect(await wf('history', 'good.yaml', '--json')).toMatchObject({ code: 0, stdout: '[]\n' });
      expect(await wf('history', 'gone')).toMatchObject({ code: 2, stdout: '' });
    });
  });

  it.each([
    [['--last', 'week'], '--last "week" is not a duration'],
    [['--from', 'noon'], '--from "noon" is not a time'],
    [['--from', '2026-03-02', '--to', '2026-03-01'], '--to "2026-03-01" is before --from "2026-03-02"'],
    [['--last', '7d', '--to', '2020-01-01'], '--to "2020-01-01" is before the start of --last "7d"'],
    [['--status', 'fine'], '"fine" is not a status of a run'],
    [['--limit', 'x'], 'option "--limit <count>" argument "x" is invalid'],
  ])('refuses %j', async (flags, message) => {
    await withPlace({}, async ({ wf }) => {
      expect(await wf('history', ...flags)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    });
  });

  it('reads only the runs that it shows', async () => {
    await withPlace({}, async ({ runsDir, cwd }) => {
      const store = createFileStore({ runsDir, identify, isAlive });
      for (let i = 0; i < 50; i++) {
        const runId = `01997c3e-1a2b-7000-8000-0000000000${10 + i}`;
        const journal = store.create({ runId, workflow: workflow(), sources: [] }, { logDir: null });
        journal.append([{ type: 'run.finished', at: 5, status: 'succeeded', reason: null, message: '' }]);
        await journal.close();
      }
      const opened: string[] = [];
      const counted = (read: 'read' | 'readCreated' | 'readEvents') => (runId: string) => {
        opened.push(runId);
        return store[read](runId) as never;
      };
      const archive = {
        ...store,
        read: counted('read'),
        readCreated: counted('readCreated'),
        readEvents: counted('readEvents'),
      };
      const processes = { find: () => [], end: async () => {} };
      const history = createHistory(
        { archive, clock: systemClock, judge: localJudge({ archive, isAlive }), processes },
        { cwd, any: true },
      );
      const shown: string[] = [];
      for await (const { runId } of history.list({ ...anyRun, limit: 3 })) shown.push(runId);
      expect([shown.length, opened]).toEqual([3, shown]);
    });
  });
});

describe('damage', () => {
  it('is reported, and hides no other runs', async () => {
    await withPlace({ 'good.yaml': good, 'bad.yaml': bad }, async ({ wf, json, runsDir }) => {
      for (const id of ['whole', 'no-snapshot', 'no-journal', 'torn']) await wf('run', 'bad.yaml', '--run-id', id);
      rmSync(join(runsDir, 'no-snapshot/snapshot.json'));
      rmSync(join(runsDir, 'no-journal/journal.jsonl'));
      const journal = readFileSync(join(runsDir, 'torn/journal.jsonl'), 'utf8').split('\n');
      writeFileSync(join(runsDir, 'torn/journal.jsonl'), journal.with(5, '{"broken"').join('\n'));
      const summaries = [];
      for (const id of ['whole', 'no-snapshot', 'no-journal', 'torn']) {
        const { code, stdout } = await wf('status', id, '--json');
        expect(code).toBe(0);
        expect((await wf('status', id)).code).toBe(0);
        summaries.push(JSON.parse(stdout) as RunSummary);
      }
      expect(summaries.map(({ runId, workflow: name, status, warnings }) => [runId, name, status, warnings])).toEqual([
        ['whole', 'bad', 'failed', []],
        ['no-snapshot', 'bad', 'failed', [expect.stringContaining('snapshot.json" is damaged')]],
        ['no-journal', 'bad', 'failed', [expect.stringContaining('journal.jsonl" is missing')]],
        ['torn', 'bad', 'failed', [expect.stringContaining('Line 6 of')]],
      ]);
      // The damage is still reported after it has been cut off.
      expect((await json('status', 'torn')).warnings).toEqual([expect.stringContaining('Line 6 of')]);
      expect((await wf('history')).code).toBe(0);
    });
  });
});

const crashing = `steps:
  - name: fine
    command: echo fine
  - name: slow
    command: sh
    script: |
      setsid sleep 300 &
      echo "pids $$ $!"
      sleep 300
    depends: fine
  - name: after
    command: echo after
    depends: slow
`;

describe('a run whose process was killed', () => {
  it('is lost: its processes are ended, and its running steps are shown', async () => {
    await withPlace({ 'w.yaml': crashing }, async (place) => {
      await crash(place, 'pids', 'w.yaml', '--run-id', 'lost');
      const pids = await stepPids(place);
      expect(pids.filter(isRunning)).toEqual(pids);
      const { status, reason, error, steps } = await place.json('status');
      expect(pids.filter(isRunning)).toEqual([]);
      expect([status, reason, error]).toEqual(['failed', 'lost', expect.stringMatching(/^its process \d+ died$/)]);
      expect(steps.map((step) => [step.name, step.status, step.reason])).toEqual([
        ['fine', 'succeeded', null],
        ['slow', 'failed', 'lost'],
        ['after', 'canceled', null],
      ]);
      expect((await place.wf('history')).stdout).toContain('failed');
    });
  });

  it('is settled once, by however many commands', async () => {
    await withPlace({ 'w.yaml': crashing }, async (place) => {
      await crash(place, 'pids', 'w.yaml', '--run-id', 'lost');
      const seen = await Promise.all([0, 1, 2, 3].map(() => place.json('status', 'lost')));
      expect(seen.map(({ status, reason }) => [status, reason])).toEqual(Array(4).fill(['failed', 'lost']));
      const events = readFileSync(join(place.runsDir, 'lost/journal.jsonl'), 'utf8').match(/"type":"run.finished"/g);
      expect(events).toHaveLength(1);
    });
  });

  it('ends its sub-runs as well', async () => {
    const parent = 'steps:\n  - name: sub\n    run: w.yaml\n';
    await withPlace({ 'w.yaml': crashing, 'parent.yaml': parent }, async (place) => {
      const run = place.start('run', 'parent.yaml', '--run-id', 'parent');
      const child = await childLog(place);
      run.kill('SIGKILL');
      await run.ended;
      const pids = pidsIn(readFileSync(child, 'utf8'));
      await place.wf('status', 'parent');
      expect(pids.filter(isRunning)).toEqual([]);
      expect((await place.json<readonly RunSummary[]>('history')).map(({ reason }) => reason)).toEqual([
        'lost',
        'lost',
      ]);
    });
  });
});

describe('wf list', () => {
  it('shows the next start of each in its time zone, unless it is suspended', async () => {
    await withPlace({}, async ({ cwd, wf, json }) => {
      const dags = join(cwd, 'home/dags');
      mkdirSync(dags, { recursive: true });
      writeFileSync(join(dags, 'tokyo.yaml'), `schedule: 0 12 * * *\ntimezone: Asia/Tokyo\n${good}`);
      writeFileSync(join(dags, 'asleep.yaml'), `schedule: 0 12 * * *\n${good}`);
      writeFileSync(join(dags, 'never.yaml'), `schedule: {start: 0 0 31 2 *, stop: 0 12 * * *}\n${good}`);
      writeFileSync(join(dags, 'dozing.yaml'), `schedule: 0 12 * * *\ntimezone: UTC\n${good}`);
      const suspensions = createSuspensions(join(cwd, 'home/suspended'));
      suspensions.set(join(dags, 'asleep.yaml'), Number.POSITIVE_INFINITY);
      suspensions.set(join(dags, 'dozing.yaml'), Date.parse('2150-03-01T12:00:00Z'));
      const listed =
        await json<readonly { name: string; next: string | null; suspended: boolean; suspendedUntil: string | null }[]>(
          'list',
        );
      expect(listed.map(({ name, next, suspended }) => [name, next?.slice(11) ?? null, suspended])).toEqual([
        ['asleep', null, true],
        ['dozing', '12:00:00.000Z', true],
        ['never', null, false],
        ['tokyo', '03:00:00.000Z', false],
      ]);
      expect(listed.map(({ suspendedUntil }) => suspendedUntil)).toEqual([
        null,
        '2150-03-01T12:00:00.000Z',
        null,
        null,
      ]);
      expect((await wf('list')).stdout).toMatch(/ {2}suspended\s.* {2}suspended until 2150-03-01 \d\d:\d\d/s);
    });
  });

  it('shows the workflows directory with schedules, last runs and invalid files', async () => {
    await withPlace({}, async ({ cwd, wf, json }) => {
      mkdirSync(join(cwd, 'home/dags/etl'), { recursive: true });
      const nightly = `description: Loads it all\nschedule: "0 2 * * *"\ntags: [a, b]\n${good}`;
      writeFileSync(join(cwd, 'home/dags/etl/nightly.yaml'), nightly);
      writeFileSync(join(cwd, 'home/dags/wrong.yaml'), 'steps: []\n');
      await wf('run', 'nightly', '--run-id', 'n1');
      expect(withoutTimes((await wf('list')).stdout).replace(/~\d+\.\ds/, '~0.0s')).toBe(
        [
          'WORKFLOW     LAST RUN                        TIME   SCHEDULE   NEXT                 TAGS',
          'etl/nightly  succeeded  <time>  ~0.0s  0 2 * * *  <time>  a, b  Loads it all',
          'wrong        -                                                                            not valid: 1 error (wf validate)',
          '',
        ].join('\n'),
      );
      expect(await json<unknown>('list')).toEqual([
        {
          name: 'nightly',
          group: 'etl',
          file: join(cwd, 'home/dags/etl/nightly.yaml'),
          description: 'Loads it all',
          tags: ['a', 'b'],
          queue: null,
          schedule: { ...noSchedule, start: ['0 2 * * *'] },
          next: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:00\.000Z$/),
          suspended: false,
          suspendedUntil: null,
          lastRun: expect.objectContaining({ runId: 'n1', status: 'succeeded' }),
          medianMs: expect.any(Number),
          diagnostics: [],
        },
        expect.objectContaining({
          name: 'wrong',
          group: '',
          lastRun: null,
          medianMs: null,
          diagnostics: [expect.anything()],
        }),
      ]);
    });
  });
});

describe('queues and tags of workflows', () => {
  const files = {
    'home/dags/load.yaml': `tags: [nightly, db]\nqueue: imports\n${good}`,
    'home/dags/plain.yaml': good,
  };

  it('are listed if there are any, and select runs and workflows', () =>
    withPlace(files, async ({ wf, json }) => {
      await wf('run', 'plain', '--run-id', 'p1');
      expect(withoutTimes((await wf('history')).stdout)).toMatch(/^RUN {2}WORKFLOW {2}STARTED +STATUS +TIME\n/);
      await wf('run', 'load', '--run-id', 'l1');
      expect(withoutTimes((await wf('history')).stdout)).toBe(
        [
          'RUN  WORKFLOW  STARTED              STATUS     TIME  QUEUE    TAGS',
          'l1   load      <time>  succeeded  0.0s  imports  nightly, db',
          'p1   plain     <time>  succeeded  0.0s',
          '',
        ].join('\n'),
      );
      const found = async (...options: string[]) =>
        (await json<RunSummary[]>('history', ...options)).map(({ runId, queue, tags }) => [runId, queue, tags]);
      expect(await found('--queue', 'imports')).toEqual([['l1', 'imports', ['nightly', 'db']]]);
      expect(await found('--tag', 'DB', '--status', 'succeeded')).toHaveLength(1);
      expect(await found('--tag', 'night')).toEqual([]);
      expect((await wf('status', 'l1')).stdout).toMatch(/ {2}queue imports {2}tags nightly, db\n/);
      expect((await wf('list')).stdout).toMatch(/QUEUE +TAGS\nload .* imports +nightly, db\nplain /);
      expect((await wf('list', '--tag', 'db')).stdout).not.toContain('plain');
      expect((await wf('list', '--tag', 'none')).stderr).toMatch(/^no workflows with the tag "none" in /);
    }));
});

test('are left out on a narrow terminal, tags first', () => {
  const rows = [
    ['RUN', 'QUEUE', 'TAGS', ''],
    ['r1', 'imports', 'nightly', 'a long note'],
  ].map((row) => row.map((text) => ({ text, paint: String })));
  const headsIn = (columns: number) =>
    renderTable(rows, { optional: [1, 2], columns })
      .split('\n')[0]
      ?.trim();
  expect([80, 23, 22, 14, 13].map(headsIn)).toEqual([
    'RUN  QUEUE    TAGS',
    'RUN  QUEUE    TAGS',
    'RUN  QUEUE',
    'RUN  QUEUE',
    'RUN',
  ]);
});

function withoutTimes(text: string): string {
  return text.replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, '<time>').replace(/\d\.\ds/g, '0.0s');
}

async function stepPids({ runsDir }: Place): Promise<readonly number[]> {
  return pidsIn(readFileSync(join(runsDir, 'lost/logs/00002-slow.1.out'), 'utf8'));
}

function pidsIn(text: string): readonly number[] {
  return (/^pids (\d+) (\d+)$/m.exec(text) ?? []).slice(1).map(Number);
}

/** The log in which the run of the step tells its processes, once it has. */
async function childLog({ runsDir, json }: Place): Promise<string> {
  for (;;) {
    const runs = existsSync(runsDir) ? await json<readonly RunSummary[]>('history') : [];
    const log = runs.flatMap(({ steps }) => steps).find(({ name }) => name === 'slow')?.log ?? '';
    if (log !== '' && existsSync(log) && pidsIn(readFileSync(log, 'utf8')).length === 2) return log;
  }
}

/** What has ended but was not noticed yet by the system's first process does not count. */
function isRunning(pid: number): boolean {
  return existsSync(`/proc/${pid}`) && !/^State:\tZ/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
}
