import { listSchema, objectSchema } from '../docs/object-schema.ts';
import { ref, type Schema } from '../docs/operation.ts';

const text: Schema = { type: 'string' };
const textOrNull: Schema = { type: ['string', 'null'] };
const textsOrNull: Schema = { type: ['array', 'null'], items: { type: 'string' } };
const texts: Schema = { type: 'array', items: text };
const flag: Schema = { type: 'boolean' };
const number: Schema = { type: 'number' };
const nothing: Schema = { type: 'null' };

function orNull(schema: Schema): Schema {
  return { anyOf: [schema, nothing] };
}

const conditions = listSchema(objectSchema({ Condition: text, Expected: text }));
const schedule = listSchema(objectSchema({ Expression: text }));
const runStatus: Schema = {
  type: 'integer',
  enum: [0, 1, 2, 3, 4],
  description: '0 not started, 1 running, 2 failed, 3 canceled, 4 finished.',
};
const stepStatus: Schema = {
  type: 'integer',
  enum: [0, 1, 2, 3, 4, 5],
  description: '0 not started, 1 running, 2 failed, 3 canceled, 4 finished, 5 skipped.',
};

const run = {
  RequestId: { ...text, description: 'The id of the run; empty: the workflow has never run.' },
  Name: text,
  Status: runStatus,
  StatusText: text,
  Pid: { type: 'integer', description: '-1: none.' },
  StartedAt: text,
  FinishedAt: text,
  Log: { ...text, description: 'What to pass as `file`.' },
  Params: text,
};

const file = { File: text, Dir: text, Suspended: flag, Error: textOrNull, ErrorT: textOrNull };
const workflow = {
  Name: text,
  Group: text,
  Description: text,
  Tags: texts,
  Params: texts,
  DefaultParams: text,
  Schedule: schedule,
};

const step = objectSchema({
  Name: text,
  Description: text,
  Variables: texts,
  Dir: text,
  CmdWithArgs: text,
  Command: text,
  Script: text,
  Stdout: text,
  Stderr: text,
  Output: text,
  Args: texts,
  Depends: { ...textsOrNull, description: 'Null: the step depends on no other.' },
  ContinueOn: objectSchema({ Failure: flag, Skipped: flag }),
  RetryPolicy: objectSchema({ Limit: number, Interval: { ...number, description: 'Nanoseconds.' } }),
  RepeatPolicy: objectSchema({ Repeat: flag, Interval: { ...number, description: 'Nanoseconds.' } }),
  MailOnError: flag,
  Preconditions: conditions,
  SignalOnStop: text,
  ExecutorConfig: objectSchema({ Type: text }),
  Run: text,
  Params: text,
});

const node = objectSchema({
  Step: { anyOf: [ref('StepV1'), objectSchema({ Name: text })] },
  Log: text,
  StartedAt: { ...text, description: '`-`: the step has not started, or was skipped.' },
  FinishedAt: { ...text, description: '`-`: the step has not finished, or never started.' },
  Status: stepStatus,
  StatusText: text,
  RetryCount: { ...number, description: 'Retries; repetitions are not counted.' },
  DoneCount: { ...number, description: 'Attempts that ended.' },
  Error: text,
});

const dag = objectSchema({
  Location: text,
  ...workflow,
  Env: texts,
  LogDir: text,
  HandlerOn: objectSchema({
    Success: orNull(ref('StepV1')),
    Failure: orNull(ref('StepV1')),
    Cancel: orNull(ref('StepV1')),
    Exit: orNull(ref('StepV1')),
  }),
  Steps: listSchema(ref('StepV1')),
  Delay: { ...number, description: 'Nanoseconds.' },
  HistRetentionDays: number,
  Preconditions: conditions,
  MaxActiveRuns: number,
});

const detailed = objectSchema({
  ...run,
  Nodes: listSchema(ref('NodeV1')),
  OnExit: orNull(ref('NodeV1')),
  OnSuccess: orNull(ref('NodeV1')),
  OnFailure: orNull(ref('NodeV1')),
  OnCancel: orNull(ref('NodeV1')),
});

const head = { Title: text, Tab: text, Definition: text, Graph: text, LogUrl: text, Errors: texts };
const logData = objectSchema({
  GridData: listSchema(objectSchema({ Name: text, Vals: listSchema(stepStatus) })),
  Logs: listSchema(objectSchema({ File: text, Status: ref('RunDetailV1') })),
});

const fieldValue: Schema = { type: ['string', 'boolean', 'number', 'null'] };

/** The schemas of the v1 API. */
export const v1Schemas: Readonly<Record<string, Schema>> = {
  ErrorV1: objectSchema(
    {
      code: { type: 'integer', description: 'The HTTP status, of what HTTP itself refuses.' },
      message: text,
      detailedMessage: text,
      diagnostics: listSchema(ref('Diagnostic')),
    },
    ['code', 'diagnostics'],
  ),
  ActionV1: {
    type: 'object',
    properties: {
      action: {
        ...fieldValue,
        description:
          '`start`, `stop`, `retry`, `suspend`, `mark-success`, `mark-failed`, `save`, `rename`; `new` makes one.',
      },
      value: { ...fieldValue, description: 'For `suspend` true or false, for `save` the text, for `rename` the name.' },
      requestId: { ...fieldValue, description: 'A run; for `start` the id of the new one.' },
      'request-id': { ...fieldValue, description: 'The same.' },
      step: {
        ...fieldValue,
        description: 'For `mark-success`, `mark-failed`; for `retry` a step alone. Never a handler.',
      },
      params: { ...fieldValue, description: 'For `start` and `retry`: `A=1 B="x y"`.' },
    },
  },
  DoneV1: objectSchema({ RequestId: text, NewDagID: text }, ['RequestId', 'NewDagID']),
  CreatedV1: objectSchema({ DagID: text }),
  DagPageV1: objectSchema({
    DAGs: listSchema(objectSchema({ ...file, DAG: objectSchema(workflow), Status: objectSchema(run) })),
    Errors: texts,
    HasError: flag,
    PageCount: { type: 'integer', minimum: 1 },
  }),
  DagDetailV1: objectSchema({
    ...head,
    LogData: orNull(logData),
    StepLog: orNull(objectSchema({ Step: ref('NodeV1'), LogFile: text, Content: text })),
    ScLog: orNull(objectSchema({ LogFile: text, Content: text })),
    DAG: objectSchema({ ...file, DAG: ref('DagV1'), Status: ref('RunDetailV1') }),
  }),
  NoDagV1: objectSchema({
    ...head,
    LogData: nothing,
    StepLog: nothing,
    ScLog: nothing,
    DAG: objectSchema({ ...file, DAG: ref('DagV1'), Status: ref('RunDetailV1') }),
    message: text,
    detailedMessage: text,
  }),
  DagV1: dag,
  StepV1: step,
  NodeV1: node,
  RunDetailV1: detailed,
  SpecV1: objectSchema({ Definition: text, Errors: texts }),
  SearchV1: objectSchema({
    Results: listSchema(
      objectSchema({
        Name: text,
        DAG: objectSchema({ ...workflow, Location: text }),
        Matches: listSchema(objectSchema({ Line: text, LineNumber: number, StartLine: number })),
      }),
    ),
    Errors: texts,
  }),
  TagsV1: objectSchema({ Tags: texts, Errors: texts }),
};
