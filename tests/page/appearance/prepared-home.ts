import { join } from 'node:path';
import { loadWorkflow } from '#language/load.ts';
import { type PlayedAttempt, type PlayedRun, storePlayedRun } from './played-run.ts';

/** The time that the clock of the browser shows. */
export const now = Date.UTC(2026, 2, 2, 10, 0, 0);

/** The run of `nightly-etl` that failed, and the run of `deploy`. */
export const failedRun = timedId(now - 8 * 60_000, 1);
export const deployRun = timedId(now - 3 * 60_000, 1);

/** Workflows whose next starts do not depend on the day on which they are shown. Their runs are kept forever. */
export const files = {
  'nightly-etl.yaml': `
description: loads the orders of yesterday into the warehouse
tags: [daily, etl]
schedule: [{ kind: at, at: "2031-05-04T02:00:00Z" }]
histRetentionDays: -1
params: { DAY: "2026-03-01", MODE: full }
steps:
  - name: extract
    command: python3 extract.py $DAY # 5000 rows
  - name: check source
    command: ./check.sh
  - name: transform
    command: ./transform.sh
    depends: extract
  - name: load
    command: psql -f load.sql
    depends: [transform, check source]
    retryPolicy: { limit: 2, intervalSec: 2 }
  - name: index
    command: ./index.sh
    depends: transform
  - name: report
    command: ./report.sh
    depends: [load, index]
handlerOn:
  failure: { command: ./notify.sh }
`,
  'deploy.yaml': `
description: builds and deploys the shop
tags: [release]
queue: releases
histRetentionDays: -1
steps:
  - name: database
    container: { image: postgres }
    service: { readyWhen: { port: 5432 } }
  - name: migrate
    command: ./migrate.sh
    depends: database
  - name: ship
    parallel: { items: [north, south, west] }
    command: ./ship.sh $ITEM
    depends: migrate
  - name: announce
    command: ./announce.sh
    depends: ship
    approval: { prompt: "Announce it?" }
`,
  'ops/backup.yaml': `
description: nightly dump of all stores
tags: [daily]
schedule: [{ kind: at, at: "2031-05-04T03:30:00Z" }]
histRetentionDays: -1
steps:
  - name: dump
    command: ./dump.sh
  - name: upload
    command: ./upload.sh
    depends: dump
`,
  'typed.yaml': `
description: every kind of parameter
params:
  - {name: STAGE, enum: [staging, production], required: true, description: Where to deploy}
  - {name: WORKERS, type: integer, default: 4, maximum: 16}
  - {name: DRY, type: boolean, default: false}
  - {name: API_KEY, secret: true}
  - {name: NOTES, default: "none"}
steps:
  - name: deploy
    command: echo "$STAGE"
`,
  'report.yaml': 'description: weekly figures\nsteps:\n  - name: one\n    comand: echo one\n',
};

const refused = 'connecting to warehouse:5432\n\u001b[31merror:\u001b[0m connection refused by warehouse:5432\n';

/** The attempts of a run of `nightly-etl`; `n` varies its durations. */
function etlAttempts(n: number, load: readonly PlayedAttempt[]): Readonly<Record<string, readonly PlayedAttempt[]>> {
  return {
    extract: [{ ms: 4000 + 137 * (n % 7), stdout: 'read 5000 rows of 2026-03-01\n\u001b[32mok\u001b[0m\n' }],
    'check source': [{ ms: 2100 + 90 * (n % 5) }],
    transform: [{ ms: 9000 + 700 * (n % 4), stdout: 'transformed 5000 rows\n' }],
    load,
    index: [{ ms: 6500 }],
    report: [{ ms: 800 }],
    'handlerOn.failure': [{ ms: 300 }],
  };
}

const failing = [
  { ms: 1200, exit: 3, stderr: refused },
  { ms: 1300, exit: 3, stderr: refused },
  { ms: 1250, exit: 3, stderr: refused },
];

/** Stores runs of these workflows below `dags` with the same ids, times and logs each time. */
export async function storeRuns(runsDir: string, dags: string): Promise<void> {
  const play = (name: string, run: PlayedRun) => storePlayedRun(runsDir, load(dags, name), run);
  const params = [
    { name: 'DAY', value: '2026-03-01' },
    { name: 'MODE', value: 'full' },
  ];
  for (let n = 24; n > 0; n--) {
    const at = now - n * 3_600_000 - 12 * 60_000;
    const load = n % 9 === 0 ? failing : [{ ms: 3000 + 400 * (n % 3), stdout: 'loaded 5000 rows\n' }];
    const runId = timedId(at, n);
    await play('nightly-etl.yaml', { runId, at, trigger: 'schedule', params, attempts: etlAttempts(n, load) });
  }
  for (let n = 3; n > 0; n--) {
    const at = now - n * 5_000_000;
    await play('ops/backup.yaml', { runId: timedId(at, n), at, trigger: 'schedule' });
  }
  const at = now - 8 * 60_000;
  await play('nightly-etl.yaml', { runId: failedRun, at, trigger: 'api', params, attempts: etlAttempts(3, failing) });
  await play('deploy.yaml', {
    runId: deployRun,
    at: now - 3 * 60_000,
    trigger: 'cli',
    items: { ship: ['north', 'south', 'west'] },
    attempts: {
      migrate: [{ ms: 2500 }],
      'ship[north]': [{ ms: 3100 }],
      'ship[south]': [{ ms: 4200 }],
      'ship[west]': [{ ms: 2700 }],
    },
  });
}

function load(dags: string, name: string): ReturnType<typeof loadWorkflow> {
  const group = name.includes('/') ? { group: name.slice(0, name.indexOf('/')) } : {};
  return loadWorkflow({ file: join(dags, name), ...group });
}

/** An id that sorts by its time. */
function timedId(at: number, n: number): string {
  const time = at.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7000-8000-${n.toString(16).padStart(12, '0')}`;
}
