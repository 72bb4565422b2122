import type { JsonObject } from '../../core/workflow.ts';

/** The example responses in the document, for one workflow and its last run. */

const runId = '019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112';
const file = '/srv/wf/dags/etl.yaml';

const runHead = {
  runId,
  workflow: 'etl',
  group: '',
  file,
  status: 'failed',
  reason: 'step',
  error: 'step "load" failed: exit 3',
  trigger: 'api',
  retryOf: null,
  params: [{ name: 'DAY', value: '2026-03-01' }],
  owner: { pid: 4711, host: 'build' },
  createdAt: '2026-03-01T03:00:00.104Z',
  startedAt: '2026-03-01T03:00:00.231Z',
  finishedAt: '2026-03-01T03:00:01.090Z',
  durationMs: 859,
};

/** A run. */
export const exampleRun: JsonObject = {
  ...runHead,
  steps: [
    {
      name: 'extract',
      status: 'succeeded',
      reason: null,
      error: null,
      attempts: 1,
      exitCode: 0,
      signal: null,
      startedAt: '2026-03-01T03:00:00.233Z',
      finishedAt: '2026-03-01T03:00:00.640Z',
      durationMs: 407,
      outputs: { ROWS: '42' },
      log: `/srv/wf/runs/${runId}/logs/00001-extract.1.out`,
    },
    {
      name: 'load',
      status: 'failed',
      reason: 'exit',
      error: 'exit 3',
      attempts: 1,
      exitCode: 3,
      signal: null,
      startedAt: '2026-03-01T03:00:00.642Z',
      finishedAt: '2026-03-01T03:00:01.085Z',
      durationMs: 443,
      outputs: {},
      log: `/srv/wf/runs/${runId}/logs/00002-load.1.out`,
    },
  ],
  handlers: [],
  warnings: [],
};

/** A workflow of a listing. */
export const exampleWorkflow: JsonObject = {
  id: 'etl.yaml',
  name: 'etl',
  group: '',
  file,
  description: 'Yesterday in numbers',
  tags: ['nightly'],
  schedule: {
    start: ['0 3 * * *'],
    stop: [],
    restart: [],
    timeZone: null,
    overlap: 'skip',
    catchup: 'none',
    catchupWindowMs: null,
  },
  diagnostics: [],
  next: '2026-03-02T03:00:00.000Z',
  suspended: false,
  lastRun: runHead,
  recent: [{ runId, status: 'failed', durationMs: 859 }],
};

const step = {
  description: '',
  executor: { type: 'command', config: {} },
  args: [],
  script: null,
  dir: null,
  preconditions: [],
  continueOn: { failure: false, skipped: false },
  retry: { limit: 0, intervalMs: 0 },
  repeat: null,
  stdout: null,
  stderr: null,
  env: [],
  signalOnStop: 'SIGTERM',
  timeoutMs: 0,
};

/** A workflow with the content of its file. */
export const exampleWorkflowDetail: JsonObject = {
  ...exampleWorkflow,
  definition: `description: Yesterday in numbers
tags: nightly
schedule: "0 3 * * *"
params: DAY=yesterday
steps:
  - name: extract
    command: ./extract $DAY
    output: ROWS
  - name: load
    command: ./load $ROWS
    depends: extract
`,
  params: [{ name: 'DAY', value: 'yesterday', open: false }],
  env: [],
  steps: [
    { ...step, name: 'extract', command: './extract $DAY', depends: [], output: 'ROWS' },
    { ...step, name: 'load', command: './load $ROWS', depends: ['extract'], output: null },
  ],
  handlers: [],
  graph: {
    nodes: [
      { name: 'extract', handler: null, executor: 'command' },
      { name: 'load', handler: null, executor: 'command' },
    ],
    edges: [{ from: 'extract', to: 'load' }],
  },
  active: [],
};

/** A problem of a file. */
export const exampleDiagnostic: JsonObject = {
  severity: 'error',
  code: 'unknown-key',
  message: 'unknown key "comand"',
  file: '-',
  line: 3,
  column: 5,
  endLine: 3,
  endColumn: 11,
  help: 'did you mean "command"?',
};

/** The last events of a run's stream. */
export const exampleStream = `retry: 1000

id: 9
event: step.finished
data: {"type":"step.finished","runId":"${runId}","at":"2026-03-01T03:00:01.085Z","step":"load","attempt":1,"status":"failed","reason":"exit","message":"exit 3","exitCode":3,"signal":null,"outputs":{},"seq":9}

id: 10
event: run.finished
data: {"type":"run.finished","runId":"${runId}","at":"2026-03-01T03:00:01.090Z","status":"failed","reason":"step","message":"step \\"load\\" failed: exit 3","seq":10}

event: end
data: {"runId":"${runId}"}
`;

/** A stream of all changes in which one run ends. */
export const exampleLiveStream = `retry: 1000

id: 5f0c2a9be1d4.17
event: daemon
data: {"version":"1.0.0","running":1,"queued":0}

id: 5f0c2a9be1d4.18
event: run
data: ${JSON.stringify(runHead)}

id: 5f0c2a9be1d4.19
event: run.removed
data: {"runId":"019c8f59-7d10-7a11-8c1e-6a2f0b9d4e55"}
`;

/** The view of a run. */
export const exampleRunView: JsonObject = {
  run: runHead,
  warnings: [],
  steps: [],
  handlers: [],
  graph: {
    nodes: [
      { name: 'extract', handler: null, executor: 'command', place: placeAt(5) },
      { name: 'load', handler: null, executor: 'command', place: placeAt(8) },
    ],
    edges: [{ from: 'extract', to: 'load' }],
  },
  sources: [{ path: file, text: 'steps:\n  - name: extract\n' }],
  subRuns: [],
  fileStatus: 'same',
  masked: false,
};

function placeAt(line: number): JsonObject {
  return { source: 0, line, column: 5, endLine: line, endColumn: 18 };
}

/** A workflow that was saved. */
export const exampleSaved: JsonObject = { id: 'etl.yaml', file, diagnostics: [] };

/** Two runs of a workflow. */
export const exampleGrid: JsonObject = {
  steps: ['extract', 'load'],
  runs: [{ runId, status: 'failed', createdAt: runHead.createdAt, durationMs: 859, cells: 'SF' }],
  nextCursor: null,
};
