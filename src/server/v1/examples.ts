import type { JsonObject } from '../../core/workflow.ts';

/** The example responses in the document, for one workflow and its last run. */

const runId = '019c8f5a-2b1e-7c40-9d0f-3f1c6a7be112';

const file = { File: 'etl.yaml', Dir: '/srv/wf/dags', Suspended: false, Error: null, ErrorT: null };

const workflow = {
  Name: 'etl',
  Group: '',
  Description: 'Yesterday in numbers',
  Tags: ['nightly'],
  Params: ['DAY=yesterday'],
  DefaultParams: 'DAY=yesterday',
  Schedule: [{ Expression: '0 3 * * *' }],
};

const run = {
  RequestId: runId,
  Name: 'etl',
  Status: 4,
  StatusText: 'finished',
  Pid: 4711,
  StartedAt: '2026-03-01T03:00:00.231Z',
  FinishedAt: '2026-03-01T03:00:01.090Z',
  Log: runId,
  Params: 'DAY=2026-03-01',
};

const step = {
  Name: 'extract',
  Description: '',
  Variables: [],
  Dir: '/srv/wf/dags',
  CmdWithArgs: './extract $DAY',
  Command: './extract',
  Script: '',
  Stdout: '',
  Stderr: '',
  Output: 'ROWS',
  Args: ['$DAY'],
  Depends: null,
  ContinueOn: { Failure: false, Skipped: false },
  RetryPolicy: { Limit: 0, Interval: 0 },
  RepeatPolicy: { Repeat: false, Interval: 0 },
  MailOnError: false,
  Preconditions: [],
  SignalOnStop: 'SIGTERM',
  ExecutorConfig: { Type: '' },
  Run: '',
  Params: '',
};

const node = {
  Step: step,
  Log: `/srv/wf/runs/${runId}/logs/00001-extract.1.out`,
  StartedAt: '2026-03-01T03:00:00.233Z',
  FinishedAt: '2026-03-01T03:00:01.085Z',
  Status: 4,
  StatusText: 'finished',
  RetryCount: 0,
  DoneCount: 1,
  Error: '',
};

/** A page of workflows. */
export const exampleListing: JsonObject = {
  DAGs: [{ ...file, DAG: workflow, Status: run }],
  Errors: [],
  HasError: false,
  PageCount: 1,
};

/** A workflow with its last run, in the tab `status`. */
export const exampleDetail: JsonObject = {
  Title: 'etl',
  Tab: 'status',
  Definition: '',
  Graph: '',
  LogUrl: '',
  LogData: null,
  StepLog: null,
  ScLog: null,
  Errors: [],
  DAG: {
    ...file,
    DAG: {
      Location: '/srv/wf/dags/etl.yaml',
      ...workflow,
      Env: [],
      LogDir: '',
      HandlerOn: { Success: null, Failure: null, Cancel: null, Exit: null },
      Steps: [step],
      Delay: 0,
      HistRetentionDays: 30,
      Preconditions: [],
      MaxActiveRuns: 0,
    },
    Status: { ...run, Nodes: [node], OnExit: null, OnSuccess: null, OnFailure: null, OnCancel: null },
  },
};
