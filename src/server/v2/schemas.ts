import { runStatuses } from '../../core/run/run.ts';
import { listSchema, objectSchema } from '../docs/object-schema.ts';
import { ref, type Schema } from '../docs/operation.ts';
import { problemTitles } from '../reply/problem.ts';
import { daemonSchemas } from './daemon/daemon-schemas.ts';
import { liveSchemas } from './daemon/live-schemas.ts';
import { requestSchemas } from './request-schemas.ts';
import { runViewSchemas } from './runs/run-view-schema.ts';
import { workflowSchemas } from './workflows/workflow-schemas.ts';

const text: Schema = { type: 'string' };
const textOrNull: Schema = { type: ['string', 'null'] };
const texts: Schema = { type: 'array', items: text };
const nextCursor: Schema = {
  ...textOrNull,
  description: 'What to pass as `cursor` for the next page; null on the last.',
};

function object(
  description: string,
  properties: Readonly<Record<string, Schema>>,
  optional: readonly string[] = [],
): Schema {
  return { description, ...objectSchema(properties, optional) };
}

const fileProperties: Readonly<Record<string, Schema>> = {
  id: { ...text, description: 'What a path calls it: the name of its file, with its group where it needs one.' },
  name: { ...text, description: 'What the file calls it.' },
  group: { ...text, description: 'The folder in the workflows directory; empty for none.' },
  file: { ...text, description: 'The absolute path.' },
  description: text,
  tags: texts,
  schedule: ref('Schedule'),
  diagnostics: listSchema(ref('Diagnostic'), 'Problems of the file. One with errors cannot be run.'),
  next: {
    type: ['string', 'null'],
    format: 'date-time',
    description: 'When it is started next; null without a schedule, and while that is suspended.',
  },
  suspended: { type: 'boolean', description: 'Whether the schedule is switched off.' },
  lastRun: { anyOf: [ref('RunHead'), { type: 'null' }], description: 'The last run; null where there is none.' },
  recent: {
    anyOf: [{ type: 'array', items: ref('RecentRun') }, { type: 'null' }],
    description:
      'The last 20 runs, newest first. Null: they are not read yet, as after the start of a daemon with thousands of runs; the stream of all changes tells when they are.',
  },
};

const namedValue = object('One entry of `env`.', { name: text, value: text });
const flag: Schema = { type: 'boolean' };
const pause = object('', { intervalMs: { type: 'number' } });

const step = object('A step or handler as its file has it, with every default filled in.', {
  name: text,
  description: text,
  executor: object('What it runs with.', {
    type: { ...text, description: '`command` where the file says nothing.' },
    config: { type: 'object', description: 'Its settings.' },
  }),
  command: { anyOf: [text, texts, { type: 'null' }] },
  args: texts,
  script: textOrNull,
  dir: textOrNull,
  depends: texts,
  preconditions: listSchema(
    object('', { condition: text, expected: textOrNull }),
    'The conditions for running the step.',
  ),
  continueOn: object('The outcomes after which the run continues.', { failure: flag, skipped: flag }),
  retry: object('Further attempts after the first.', { limit: { type: 'number' }, intervalMs: { type: 'number' } }),
  repeat: { anyOf: [pause, { type: 'null' }], description: 'Null: it runs once.' },
  output: { ...textOrNull, description: 'The variable for what it prints.' },
  stdout: textOrNull,
  stderr: textOrNull,
  env: listSchema(namedValue, 'Its own variables.'),
  signalOnStop: text,
  timeoutMs: { type: 'number', description: '0: no limit.' },
});

const param = object('A parameter and its default.', {
  name: { ...textOrNull, description: 'Null: a positional one.' },
  value: text,
  open: { type: 'boolean', description: 'The file gives no value; who starts it should.' },
});

/** The schema of the response of `validate`. */
export const checkedSchema: Schema = object('What was found.', {
  files: listSchema(
    object('', {
      file: { ...text, description: '"-": the text.' },
      valid: { type: 'boolean', description: 'Whether it can be run; warnings do not count.' },
      diagnostics: listSchema(ref('Diagnostic'), 'In the order of their places.'),
    }),
    'One entry.',
  ),
});

/** Returns the schemas of the v2 API that it does not share with the command line. */
export function v2Schemas(shared: Readonly<Record<string, Schema>>): Readonly<Record<string, Schema>> {
  return {
    Problem: problem,
    RunHead: runHead(shared['RunSummary'] ?? {}),
    ...liveSchemas(shared['RunStep'] ?? {}),
    ...runViewSchemas(),
    Workflow: object('A workflow of the workflows directory.', fileProperties),
    RecentRun: object('A short form of a past run.', {
      runId: text,
      status: { type: 'string', enum: [...runStatuses] },
      durationMs: { type: ['number', 'null'], description: 'Null until it has finished, and where it never started.' },
    }),
    ...workflowSchemas,
    ...daemonSchemas,
    WorkflowPage: object('A page of workflows.', {
      workflows: listSchema(ref('Workflow'), 'In the order of the paths.'),
      nextCursor,
    }),
    WorkflowDetail: object('A workflow with the content of its file.', {
      ...fileProperties,
      definition: {
        ...textOrNull,
        description: 'The text of the file; null where it cannot be read, or may not be seen.',
      },
      params: listSchema(param, 'In the order of the file.'),
      env: listSchema(namedValue, 'In the order of the file.'),
      steps: listSchema(ref('Step'), 'In the order of the file, imported ones first.'),
      handlers: listSchema(ref('Step'), 'They are called `handlerOn.success`, `.failure`, `.cancel`, `.exit`.'),
      graph: { anyOf: [ref('Graph'), { type: 'null' }], description: 'Null for a file that is not valid.' },
      active: listSchema(text, 'The ids of the running and waiting runs, newest first.'),
    }),
    Step: step,
    RunPage: object('A page of runs.', { runs: listSchema(ref('RunSummary'), 'Newest first.'), nextCursor }),
    ...requestSchemas,
  };
}

const problem = object(
  'An error, by RFC 9457.',
  {
    type: { type: 'string', description: '`urn:wf:problem:` and `code`.' },
    title: { type: 'string', description: 'What `code` means.' },
    status: { type: 'integer', description: 'The HTTP status.' },
    detail: { type: 'string', description: 'What happened, to what.' },
    code: { type: 'string', enum: Object.keys(problemTitles), description: 'The stable code of the error.' },
    help: { type: 'string', description: 'Help, or details of the error.' },
    diagnostics: listSchema(ref('Diagnostic'), 'The problems of a workflow.'),
  },
  ['help', 'diagnostics'],
);

function runHead({ properties, required, ...rest }: Schema): Schema {
  const isHead = (key: string) => !['steps', 'handlers', 'warnings'].includes(key);
  const head = Object.entries(properties as Readonly<Record<string, Schema>>).filter(([key]) => isHead(key));
  return {
    ...rest,
    description: 'A run without its steps.',
    properties: Object.fromEntries(head),
    required: (required as readonly string[]).filter(isHead),
  };
}
