import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import { type Figures, measure } from './figures.ts';

const root = join(import.meta.dirname, '../..');

/**
 * The most that each figure may be. The numbers fall with the sources: one that is too high by more than two percent fails
 * too. A feature that needs room raises a number in its own commit, in a line that says why.
 */
const limits: Figures = {
  // The engine as a contract of data, beside the host of runs in this process.
  // And src/language/forms: what other forms of files mean.
  // And src/engine/temporal: runs on more than one machine, with wf worker.
  // And src/engine/temporal/client/temporal-engine.ts: runs that no process here copies.
  // And src/store/files/locks: locks and queues that processes share.
  // And the moment of a run: its variables, and times in time zones.
  // And the form of Dagu 2.15: its actions, and names with a scope.
  // And locks of steps and runs: their checks, and the rate of a pool.
  // And what refuses events that a worker on Temporal was given before their task.
  // And steps under "foreach", and actions of a file, in the form of Dagu 2.15.
  // And artifacts: src/system/trees, and what keeps, stores, lists, reads and takes them over.
  // And wf serve --engine: the runs of a namespace of Temporal.
  // And the list of locks, and what breaks them: files that load with wf locks only.
  // And when large runs on Temporal continue in new executions, with what they carry.
  // And wf workers and wf doctor --engine, and a signal that ends wf run while its engine is away.
  // And what is late.
  // And src/engine/temporal/workflow/run-queue.ts: queues of runs on Temporal, with their workflow.
  // And src/engine/temporal/workflow/flights.ts, divided from the workflow of a run.
  // And src/service/backfill.ts and wf backfill: runs for past moments.
  // And steps that are up to date: their fingerprints, stored and compared, and the hashes of files.
  // And labels of workers: src/core/selectors.ts, their checks, and the slots of a worker.
  // And child runs on Temporal: what is read before a run, and what starts, stops and shows them.
  // And what a file needs of an engine, for wf dry and wf validate.
  // And the dialog of a backfill.
  // And src/language/forms/convert.ts and wf convert, which load with each other only.
  // And src/engine/attempt/place-artifacts.ts: what places kept files before an attempt.
  // And src/language/schema/dagu-schema.ts, which loads with wf schema --form dagu only.
  // And what a run on Temporal waits for.
  // And what sends mails and notifications of runs on Temporal, on workers.
  // And src/engine/temporal/workflow/lock-requests.ts: locks of runs on Temporal.
  // And src/server/v2/runs/artifact-routes.ts.
  // And the artifacts of a run on the page.
  // And src/language/forms/action-settings.ts, divided from the actions.
  // And src/engine/temporal, divided by subject: connections, copies, locks, and what a worker keeps of runs and attempts.
  // And src/client/remote-artifacts.ts, which loads with wf artifacts only.
  // And src/engine/temporal/workflow/one-worker.ts.
  // And src/language/forms/build-paths.ts, and the actions on files, divided from the others and from what they share.
  // And what keeps and restores cached results of steps.
  // And src/engine/attempt/take-over.ts and src/engine/temporal/worker/placed-task.ts.
  files: 688,
  // And outputs that are too large for the messages of Temporal.
  // And src/daemon/backfills.ts: backfills that a daemon carries out.
  // And what a file needs of an engine.
  // And the dialog of a backfill.
  // And what writes files of other forms with the keys of wf.
  // And files of earlier steps, placed and checked.
  // And the schema of the form of Dagu 2.15, asked of its reader.
  // And what a run on Temporal waits for.
  // And its actions of artifacts.
  // And the runs that workers fail to continue.
  // And locks of runs on Temporal.
  // And the routes of artifacts, and their list in the report.
  // And the slots of short work, which wf workers leaves out.
  // And the artifacts of a run on the page.
  // And what the divided files of src/engine/temporal import and declare.
  // And artifacts that are attached, named in plans, removed before their run, and read from a daemon.
  // And the decisions that the engine has stored, as a copy of a run reads them.
  // And runs on one worker: services and the container of a run on an engine.
  // And what warns of artifacts of a step that runs by ssh.
  // And builds, lists of files, and artifacts of streams in the form of Dagu 2.15, and parameters that a map declares.
  // And cached results of steps: kept, restored, limited, removed and planned.
  // And artifacts in the log store of an engine.
  // And the earlier cores of workers, and what wf doctor says of each.
  lines: 99_584,
  // Merged modules import what their parts imported: there are fewer imports, but even fewer files.
  // Locks connect the store, the engine and the checks.
  // And what steps need of their workers, and the parts of wf serve that meet in daemon-app.ts.
  // And wf convert, which reads a file as the program does, twice.
  importsPerTenFiles: 65,
  // The one of system, with times in time zones.
  // And that of the checks, with artifacts, what is late, and the labels of workers.
  fullestFolder: 17,
  // Of some modules a face is the only importer.
  // And what wf serve alone loads.
  singleImporterPercent: 36,
  doors: {
    app: 5,
    client: 6,
    config: 4,
    // And the fingerprints of steps.
    // And src/core/selectors.ts, for checks, plans, drawings and workers.
    core: 45,
    // And what receives logs of workers.
    // And its backfills.
    daemon: 14,
    doctor: 2,
    // And what wf workers and wf doctor ask it.
    engine: 9,
    // With the variables of the moment, for the engine and for plans.
    // And their inputs.
    environment: 8,
    executors: 8,
    fast: 5,
    forwarding: 3,
    // And what writes files of other forms with the keys of wf, and their JSON Schema.
    language: 9,
    mail: 2,
    notifications: 3,
    processes: 5,
    render: 7,
    'run-view': 6,
    server: 6,
    // And backfills, which load with wf backfill only.
    service: 9,
    // Locks are loaded with the first one.
    // And the fingerprints of steps, for plans.
    store: 12,
    // And times in time zones, and directories whose entries are opened and copied.
    // And the hashes of files.
    // And files that come in pieces.
    system: 20,
  },
};

const { doors, ...totals } = measure(root);

test.each(Object.entries(totals))('%s: %d', (name, value) => {
  expect(problemOf(value, limits[name as keyof typeof totals])).toBeNull();
});

test.each(Object.entries(doors))('files of %s that other folders import: %d', (folder, value) => {
  expect(problemOf(value, limits.doors[folder] ?? 0)).toBeNull();
});

test('no limit is left of a folder that is gone', () => {
  expect(Object.keys(limits.doors)).toEqual(Object.keys(doors));
});

function problemOf(value: number, limit: number): string | null {
  if (value > limit) return `${value} is more than ${limit}`;
  return value < Math.floor(limit * 0.98) ? `lower the limit of ${limit} to ${value}` : null;
}

test('the figures of known sources', () => {
  const planted = mkdtempSync(join(tmpdir(), 'wf-figures-'));
  try {
    const files = {
      'src/main.ts': "import { a } from './one/a.ts';\nconst b = import('./one/b.ts');\n",
      'src/one/a.ts': "import type { C } from '#two/deep/c.ts';\nimport './b.ts';\nimport 'node:fs';\n",
      'src/one/b.ts': 'export const b = 1;\n',
      'src/two/deep/c.ts': "import { a } from '../../one/a.ts';\n",
      'src/two/generated/d.ts': "import '../../one/a.ts';\n",
    };
    for (const [file, text] of Object.entries(files)) {
      mkdirSync(dirname(join(planted, file)), { recursive: true });
      writeFileSync(join(planted, file), text);
    }
    expect(measure(planted)).toEqual({
      files: 4,
      lines: 7,
      importsPerTenFiles: 13,
      fullestFolder: 2,
      singleImporterPercent: 25,
      doors: { one: 2, two: 1 },
    });
  } finally {
    rmSync(planted, { recursive: true });
  }
});

test.each([
  [101, 100, '101 is more than 100'],
  [100, 100, null],
  [98, 100, null],
  [97, 100, 'lower the limit of 100 to 97'],
])('%d with a limit of %d: %s', (value, limit, problem) => {
  expect(problemOf(value, limit)).toBe(problem);
});
