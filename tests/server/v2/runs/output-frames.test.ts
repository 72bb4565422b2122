import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { createOutputFrames, type OutputRequest, readOffsets } from '#server/v2/runs/run-events.ts';
import { foldRun } from '#service/history/fold-run.ts';
import { createRunLogs } from '#store/files/logs/run-logs.ts';
import { withDirectory } from '../../../support/wf.ts';
import { step as aStep, workflow as aWorkflow } from '../../../support/workflow.ts';

const workflow = aWorkflow({ name: 'w', steps: [aStep('a'), aStep('b')] });
const finished = { status: 'succeeded', reason: null, message: '', exitCode: 0, signal: null, outputs: {} } as const;
const events: readonly StoredEvent[] = [
  { type: 'step.started', seq: 1, at: 1, step: 'a', attempt: 1, process: null },
  { type: 'step.started', seq: 2, at: 1, step: 'b', attempt: 2, process: null },
  { type: 'step.finished', seq: 3, at: 2, step: 'a', attempt: 1, ...finished },
];

/** The frames sent for the events after the first `after` ones. */
function sent(after: number, wanted: OutputRequest): Promise<readonly string[]> {
  return withDirectory(async (directory) => {
    const logs = createRunLogs(directory, workflow);
    writeFileSync(logs.file('a', 1, 'stdout').path ?? '', 'a.1.stdout\n');
    writeFileSync(logs.file('a', 1, 'stderr').path ?? '', 'oh');
    writeFileSync(logs.file('b', 2, 'stdout').path ?? '', 'b.2.stdout\n');
    const told: string[] = [];
    const stored = { runId: 'r', workflow, sources: [], events, damage: [], logs, artifacts: null as never };
    const run = { runId: 'r', state: foldRun(workflow, events).state, stored, damage: [] };
    const write = (frame: string | Uint8Array) => void told.push(shown(String(frame)));
    const writer = { write, isBehind: () => false, caughtUp: async () => {}, isClosed: () => false };
    const frames = createOutputFrames(run, { after, wanted, writer });
    for (const event of events.slice(after)) {
      await frames.before(event);
      told.push(event.type);
      frames.after(event);
    }
    frames.close();
    return told;
  });
}

function shown(frame: string): string {
  const [, data = ''] = /^event: output\ndata: (.*)\n\n$/.exec(frame) ?? [];
  const { step, attempt, stream, offset, bytes } = JSON.parse(data);
  return `${step} ${attempt} ${stream} ${offset} ${Buffer.from(bytes, 'base64')}`;
}

const all: OutputRequest = { step: null, offsets: new Map() };

test('the output of an attempt is sent between its start and its end', async () => {
  expect(await sent(0, all)).toEqual([
    'step.started',
    'step.started',
    'a 1 stdout 0 a.1.stdout\n',
    'a 1 stderr 0 oh',
    'step.finished',
  ]);
});

test('known output of running attempts is omitted', async () => {
  expect(await sent(2, all)).toEqual(['a 1 stdout 0 a.1.stdout\n', 'a 1 stderr 0 oh', 'step.finished']);
  const offsets = readOffsets('[["a", 1, 2, 2], ["a", 2, 9, 9], ["c", 1, 1, 1]]');
  expect(await sent(2, { step: null, offsets })).toEqual(['a 1 stdout 2 1.stdout\n', 'step.finished']);
  expect(await sent(3, all)).toEqual([]);
});

test('only the selected step is sent', async () => {
  expect(await sent(1, { ...all, step: 'b' })).toEqual(['step.started', 'step.finished']);
});

test.each([
  'x',
  '{}',
  '[1]',
  '[["a", 1, 2]]',
  '[["a", 1, -1, 0]]',
  '[["a", 1, 1.5, 0]]',
  '[[1, 1, 0, 0]]',
  '[["a", 1e99, 0, 0]]',
])('offsets cannot be %s', (text) => expect(() => readOffsets(text)).toThrow('"offsets" must be a list'));
