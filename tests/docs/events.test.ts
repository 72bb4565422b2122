import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { createJsonReporter } from '#render/reporters/json.ts';
import { eventKinds } from '../support/event-kinds.ts';
import { type Ended, startWf, type WfOptions, wf, withDirectory } from '../support/wf.ts';
import { workflow } from '../support/workflow.ts';
import { type JsonSchema, problemsWith, schemas } from './json-schemas.ts';
import { expectPage } from './reference-page.ts';
import { keyTable, typeText } from './schema-text.ts';

/** Kinds that these runs never make: they need the daemon or Docker. */
const ofOthers: readonly StoredEvent[] = [
  {
    type: 'step.contained',
    seq: 7,
    at: 0,
    step: 'db',
    attempt: 1,
    container: { id: '4f1d2c7a90b3', image: 'postgres:17' },
    daemon: 'unix:///var/run/docker.sock',
  },
  {
    type: 'step.outdated',
    seq: 6,
    at: 0,
    step: 'build',
    attempt: 1,
    reason: [{ kind: 'source', name: 'src/a.ts' }],
    more: 2,
    from: '01997c3e-1a2b-7c60-8a92-b31858df01b9',
  },
  {
    type: 'artifact.kept',
    seq: 9,
    at: 0,
    step: 'build',
    attempt: 1,
    path: 'dist/app.js',
    bytes: 5120,
    sha256: 'b5bb9d8014a0f9b1d61e21e796d78dccdf1352f23cd32812f4850b878ae4944c',
  },
  {
    type: 'step.blocked',
    seq: 7,
    at: 0,
    step: 'load',
    attempt: 1,
    why: 'queue',
    name: 'db',
    holder: { runId: '01997c3e-1a2b-7c60-8a92-b31858df01ba', workflow: 'load', step: null, since: 0 },
  },
  {
    type: 'run.blocked',
    seq: 3,
    at: 0,
    why: 'lock',
    name: 'deploy-prod',
    holder: { runId: '01997c3e-1a2b-7c60-8a92-b31858df01ba', workflow: 'deploy', step: null, since: 0 },
  },
  { type: 'run.late', seq: 5, at: 0 },
  { type: 'step.late', seq: 9, at: 0, step: 'load' },
  { type: 'step.acquired', seq: 8, at: 0, step: 'load', attempt: 1 },
  { type: 'step.serving', seq: 8, at: 0, step: 'db', attempt: 1 },
  { type: 'step.ending', seq: 12, at: 0, step: 'db', attempt: 1 },
  {
    type: 'step.expanded',
    seq: 9,
    at: 0,
    step: 'ship',
    attempt: 1,
    items: [
      { key: 'web1', value: { name: 'web1', port: 80 } },
      { key: 'web2', value: { name: 'web2', port: 80 } },
    ],
  },
  { type: 'step.canceling', seq: 15, at: 0, step: 'ship', message: '"ship[web1]" failed' },
  {
    type: 'run.queued',
    seq: 2,
    at: 0,
    by: { pid: 4711, startTime: 815, boot: null, host: 'build-1' },
    lasting: true,
  },
  {
    type: 'step.held',
    seq: 12,
    at: 0,
    step: 'ship',
    attempt: 1,
    reason: null,
    message: '',
    exitCode: 0,
    signal: null,
    outputs: {},
    prompt: 'Ship 1.4?',
    until: null,
  },
  { type: 'step.answered', seq: 13, at: 0, step: 'ship', answer: 'approved', by: 'ops', comment: '', inputs: {} },
  {
    type: 'step.marked',
    seq: 31,
    at: 0,
    step: 'load',
    status: 'succeeded',
    by: 'ops',
    run: { status: 'succeeded', reason: null, message: '' },
  },
];

// The page holds the numbers of events, so no event of these runs may depend on how long something takes.
const etl = `params: DAY=today
smtp: {host: 127.0.0.1, port: "1"}
mailOn: {failure: true}
errorMail: {from: ci@example.com, to: ops@example.com}
steps:
  - name: extract
    command: echo 3 rows
    output: ROWS
  - name: load
    command: sh -c 'echo no table >&2; exit 3'
    depends: extract
    retryPolicy: {limit: 1, intervalSec: 0.01}
handlerOn:
  failure:
    command: "true"
`;
/** The second step is ready at once, so that the delay holds it back however long the first takes. */
const delayed = `delaySec: 0.01
steps:
  - name: first
    command: "true"
  - name: second
    command: "true"
`;
const slow = 'steps:\n  - name: slow\n    command: sleep 60\n';

type Line = { readonly type: string };
const schema = schemas['event.json'] as JsonSchema;
const link = (ref: string) => {
  const name = ref.replace('#/$defs/', '');
  return `[${name}](#${name})`;
};

describe('the events', () => {
  test('have one schema for each type', () => {
    const described = (schema.oneOf ?? []).map(({ $ref = '' }) => $ref.replace('#/$defs/', ''));
    expect(described.toSorted()).toEqual([...eventKinds, 'run.summary', 'step.output'].toSorted());
    expect(described.filter((kind) => schema.$defs?.[kind] === undefined)).toEqual([]);
  });

  test('match their schema and their page', async () => {
    const lines = await allLines();
    const wrong = lines.flatMap((line) =>
      problemsWith(`event.json#/$defs/${line.type}`, line).map((problem) => [line, problem]),
    );
    expect(wrong).toEqual([]);
    expect([...new Set(lines.map(({ type }) => type))].toSorted()).toEqual(
      [...eventKinds, 'run.summary', 'step.output'].toSorted(),
    );
    expectPage('events.md', page(lines));
  });

  test('are invalid if the schema does not describe them', () => {
    expect(problemsWith('event.json#/$defs/run.started', { type: 'run.started', runId: 'a', seq: 1 })).not.toEqual([]);
    const event = { type: 'run.started', runId: 'a', seq: 1, at: '2026-03-01T04:00:00.000Z' };
    expect(problemsWith('event.json#/$defs/run.started', event)).toEqual([]);
    expect(problemsWith('event.json#/$defs/run.started', { ...event, more: 1 })).not.toEqual([]);
  });
});

/** What real runs tell, and what is made from other events. */
async function allLines(): Promise<readonly Line[]> {
  const ofRuns = await withDirectory(async (cwd) => {
    const options = { cwd, env: { WF_HOME: join(cwd, 'home'), WF_REPORTER: 'json' } };
    writeFileSync(join(cwd, 'etl.yaml'), etl);
    writeFileSync(join(cwd, 'delayed.yaml'), delayed);
    writeFileSync(join(cwd, 'slow.yaml'), slow);
    const printed = [await wf(['run', 'etl.yaml'], options), await wf(['retry', 'etl'], options)];
    printed.push(await wf(['run', 'delayed.yaml'], options), await interrupted('slow.yaml', options));
    return printed.map(({ stdout }) => stdout).join('');
  });
  let told = '';
  const reporter = createJsonReporter(
    {
      write: (text) => (told += text),
      isTerminal: false,
      size: () => ({ columns: 80, rows: 24 }),
      color: false,
      unicode: true,
    },
    { now: () => 0, defer: (flush) => flush() },
  );
  reporter.begin(workflow(), 'id');
  for (const event of ofOthers) reporter.event(event, null as never);
  return (ofRuns + told)
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line, withoutChance) as Line);
}

/** Runs a workflow and interrupts it during its first step. */
async function interrupted(file: string, options: WfOptions): Promise<Ended> {
  const run = startWf(['run', file], options);
  await run.until('"type":"step.started"');
  run.kill('SIGINT');
  return run.ended;
}

/** What differs from run to run, by its key. */
function withoutChance(key: string, value: unknown): unknown {
  if (value === null) return null;
  if (['at', 'until', 'createdAt', 'startedAt', 'finishedAt'].includes(key)) return '2026-03-01T04:00:00.000Z';
  if (['runId', 'retryOf'].includes(key)) return '01997c3e-1a2b-7c60-8a92-b31858df01ba';
  if (key === 'file') return '/home/me/etl.yaml';
  const fixed: Readonly<Record<string, unknown>> = {
    pid: 4711,
    startTime: 815,
    boot: '6c0d2f6e-90a5-4f7e-9d9b-3f1f7b6d8f10',
    host: 'build-1',
    durationMs: 12,
  };
  return fixed[key] ?? value;
}

function page(lines: readonly Line[]): string {
  const head = `# Events

The events of a run, as \`wf run --reporter json\` prints them: one JSON object per line, in chronological order. The journal of
the run contains the same events, with times in milliseconds since 1970-01-01 UTC and without \`runId\`.

Every line has \`type\`, \`runId\` and \`at\`, a time in ISO 8601 UTC; every event also has \`seq\`, its position in the journal from 1.

New versions may add kinds and keys; those listed here do not change. A JSON Schema of the lines is
[schemas/event.json](schemas/event.json).
`;
  const defs = schema.$defs ?? {};
  const listed = (schema.oneOf ?? []).map(({ $ref = '' }) => $ref.replace('#/$defs/', ''));
  const rest = Object.keys(defs).filter((name) => !listed.includes(name));
  const sections = [...listed, ...rest].map((name) => section(name, defs[name] ?? {}, lines));
  return [head, ...sections].join('\n');
}

/** The keys of every line, which the page documents once. */
const common = ['type', 'runId', 'at', 'seq'];

function section(name: string, definition: JsonSchema, lines: readonly Line[]): string {
  const example = lines.find(({ type }) => type === name);
  const shown =
    example === undefined || name === 'run.summary' ? '' : `\`\`\`json\n${JSON.stringify(example)}\n\`\`\`\n`;
  const choices = (definition.anyOf ?? []).map((choice) => `- ${typeText(choice, link)}\n`).join('');
  const own = Object.entries(definition.properties ?? {}).filter(([key]) => !common.includes(key));
  const keys = own.length === 0 ? '' : keyTable({ ...definition, properties: Object.fromEntries(own) }, link);
  const body = [`${definition.description}\n`, choices, keys, shown].filter((part) => part !== '');
  return `## ${name}\n\n${body.join('\n')}`;
}
