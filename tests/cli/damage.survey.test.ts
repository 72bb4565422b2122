import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { createPast } from '#app/history-app.ts';
import { gcCommand } from '#cli/commands/history/gc-command.ts';
import { historyCommand } from '#cli/commands/history/history-command.ts';
import { listWorkflowsCommand } from '#cli/commands/history/list-command.ts';
import { logsCommand } from '#cli/commands/history/logs-command.ts';
import { statusCommand } from '#cli/commands/history/status-command.ts';
import { configFor } from '#cli/reference.ts';
import type { Console } from '#cli/terminal/console.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { History } from '#service/history/history.ts';
import { retryRequest } from '#service/runs/retry-run.ts';
import { WfError } from '#system/errors.ts';
import { fakeConsole } from '../support/fake-console.ts';
import { withPlace } from '../support/past-runs.ts';

const flow = `params: A=1
steps:
  - name: fine
    command: echo fine
    output: SAID
  - name: flaky
    command: sh -c '[ "$WF_ATTEMPT" = 2 ] || exit 4'
    retryPolicy: { limit: 2, intervalSec: 0 }
    depends: fine
  - name: broken
    command: sh -c 'echo "it broke" >&2; exit 7'
    depends: flaky
  - name: after
    command: echo after
    depends: broken
handlerOn:
  exit:
    command: echo over
`;

/** A real run, file by file. */
let model: ReadonlyMap<string, Buffer>;

beforeAll(async () => {
  await withPlace({ 'w.yaml': flow }, async ({ wf, runsDir }) => {
    expect((await wf('run', 'w.yaml', '--run-id', 'model')).code).toBe(1);
    const files = readdirSync(join(runsDir, 'model'), { recursive: true, withFileTypes: true });
    const paths = files.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
    model = new Map(paths.map((path) => [path.slice(join(runsDir, 'model').length + 1), readFileSync(path)]));
  });
});

/** Thousands of flushes take no time in memory. */
const fastDirectory = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** A home of its own for the commands, which run in this process. */
function home() {
  const directory = mkdtempSync(join(fastDirectory, 'wf-damage-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const runsDir = join(directory, 'runs');
  vi.stubEnv('WF_HOME', directory);
  onTestFinished(() => void vi.unstubAllEnvs());
  mkdirSync(join(directory, 'dags'), { recursive: true });
  writeFileSync(join(directory, 'dags/w.yaml'), flow);
  let count = 0;
  return {
    directory,
    runsDir,
    /** A copy of the run with another content of one file; null: without that file. */
    damaged: (name: string, content: Uint8Array | null): string => {
      const runId = `damaged-${count++}`;
      for (const [path, bytes] of model) {
        mkdirSync(join(runsDir, runId, path, '..'), { recursive: true, mode: 0o700 });
        writeFileSync(join(runsDir, runId, path), bytes);
      }
      if (content === null) rmSync(join(runsDir, runId, name));
      else writeFileSync(join(runsDir, runId, name), content);
      return runId;
    },
  };
}

function file(name: string): Buffer {
  return model.get(name) ?? Buffer.alloc(0);
}

/** What a command prints; it has to succeed. */
async function printed(command: (console: Console) => Promise<unknown>): Promise<string> {
  const { console, printed: what } = fakeConsole();
  expect([0, undefined]).toContain(await command(console));
  return what().out;
}

/** The events of the whole lines that two journals have in common at their start. */
function untouched(content: Uint8Array, whole: Buffer): readonly StoredEvent[] {
  let end = 0;
  for (let index = 0; index < whole.length && content[index] === whole[index]; index++) {
    if (whole[index] === 0x0a) end = index + 1;
  }
  const lines = whole.toString('utf8', 0, end).split('\n').slice(0, -1);
  return lines.map((line) => JSON.parse(line).data);
}

/** The summary of a run must contain everything that has finished according to its events. */
function expectTold(summary: RunSummary, events: readonly StoredEvent[]): void {
  for (const event of events) {
    if (event.type === 'run.created') expect(summary).toMatchObject({ workflow: event.workflow, file: event.file });
    if (event.type === 'run.finished') expect(summary.status).toBe(event.status);
    if (event.type !== 'step.finished') continue;
    const step = [...summary.steps, ...summary.handlers].find(
      ({ name }) => `handlerOn.${name}` === event.step || name === event.step,
    );
    expect(step).toMatchObject({ status: event.status, exitCode: event.exitCode, outputs: event.outputs });
  }
}

async function retryRefusal(history: History, runId: string): Promise<WfError | null> {
  const run = await history.find(runId);
  try {
    await retryRequest(run, { selection: { steps: 'unfinished' }, params: null, current: null, runId: null }, history);
    return null;
  } catch (error) {
    if (error instanceof WfError) return error;
    throw error;
  }
}

/** Everything that can be asked of a run, by its id. */
async function expectUsable(runId: string, known: readonly StoredEvent[]): Promise<RunSummary> {
  const summary: RunSummary = JSON.parse(
    await printed((console) => statusCommand({ run: runId, json: true }, console)),
  );
  expectTold(summary, known);
  if (random(4) === 0) await printed((console) => statusCommand({ run: runId }, console));
  const logs = await printed((console) => logsCommand({ run: runId, step: null }, console));
  if (known.some((event) => event.type === 'step.started')) expect(logs).toContain('[fine]');
  if (random(4) === 0) {
    await printed((console) => logsCommand({ run: runId, step: null, json: true, follow: true }, console));
  }
  await retryRefusal(createPast(configFor({})).history, runId);
  return summary;
}

/** Everything that is asked of the history as a whole. */
async function expectListed(count: number): Promise<void> {
  const all: readonly RunSummary[] = JSON.parse(
    await printed((console) => historyCommand({ name: null, limit: 10_000, json: true }, console)),
  );
  expect(all).toHaveLength(count);
  await printed((console) => historyCommand({ name: 'w', limit: 10_000, status: ['failed'] }, console));
  await printed((console) => listWorkflowsCommand({}, console));
  await printed((console) => gcCommand({ name: null, dryRun: true, keep: 1 }, console));
  const gc = JSON.parse(await printed((console) => gcCommand({ name: null, keep: 1, json: true }, console)));
  expect(gc.problems).toEqual([]);
}

/** A generator of numbers that is the same each time. */
function numbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

const random = numbers(42);

describe('a thousand damaged journals', () => {
  const shapes: readonly [string, number, (whole: Buffer, number: number) => Buffer][] = [
    ['cut anywhere', 400, (whole, number) => whole.subarray(0, Math.floor((whole.length * number) / 399))],
    [
      'with one bit changed',
      300,
      (whole) => {
        const bytes = Buffer.from(whole);
        const at = random(bytes.length);
        bytes[at] = (bytes[at] ?? 0) ^ (1 << random(8));
        return bytes;
      },
    ],
    [
      'with garbage in it',
      150,
      (whole) => {
        const [at, length] = [random(whole.length), random(600)];
        const garbage = Buffer.from(Array.from({ length }, () => random(256)));
        return Buffer.concat([whole.subarray(0, at), garbage, whole.subarray(at + random(300))]);
      },
    ],
    [
      'with NULs in it',
      100,
      (whole) => {
        const bytes = Buffer.from(whole);
        const at = random(bytes.length);
        return bytes.fill(0, at, Math.min(bytes.length, at + 1 + random(4096)));
      },
    ],
    [
      'with lines lost, doubled or exchanged',
      60,
      (whole) => {
        const lines = whole.toString().split(/(?<=\n)/);
        const [a, b] = [random(lines.length), random(lines.length)];
        const changed = lines.flatMap((line, index) =>
          index === a ? ([[], [line, line], [lines[b] ?? '']][random(3)] ?? []) : [line],
        );
        return Buffer.from(changed.join(''));
      },
    ],
  ];

  test.each(shapes)(
    '%s: every command works, and the events before the damage are shown',
    async (_, count, damage) => {
      const { damaged } = home();
      const whole = file('journal.jsonl');
      for (let number = 0; number < count; number++) {
        const content = damage(whole, number);
        await expectUsable(damaged('journal.jsonl', content), untouched(content, whole));
      }
      await expectListed(count);
    },
    60_000,
  );
});

test('missing, empty or invalid files of a run make no command fail', async () => {
  const { damaged, runsDir } = home();
  let count = 0;
  for (const name of ['snapshot.json', 'sources.json', 'journal.jsonl', 'owner']) {
    const contents = [null, Buffer.alloc(0), Buffer.alloc(5000), Buffer.from('{"crc":"00000000","data":{}}\n')];
    for (const content of contents) {
      const known = name === 'journal.jsonl' ? [] : untouched(file('journal.jsonl'), file('journal.jsonl'));
      const summary = await expectUsable(damaged(name, content), name === 'snapshot.json' ? [] : known);
      expect(summary.warnings.length).toBe(name === 'owner' ? 0 : 1);
      if (name !== 'snapshot.json') expect(summary.workflow).toBe('w');
      count += 1;
    }
    const runId = damaged(name, null);
    mkdirSync(join(runsDir, runId, name));
    await printed((console) => statusCommand({ run: runId, json: true }, console));
    await printed((console) => logsCommand({ run: runId, step: null }, console));
    count += 1;
  }
  await printed((console) => historyCommand({ name: null, limit: 100 }, console));
  await printed((console) => listWorkflowsCommand({}, console));
  await printed((console) => gcCommand({ name: null, dryRun: true, keep: 1 }, console));
  expect(readdirSync(runsDir).filter((name) => name.startsWith('damaged-'))).toHaveLength(count);
});

test('the real program reports the same', async () => {
  await withPlace({ 'w.yaml': flow }, async ({ wf, runsDir }) => {
    await wf('run', 'w.yaml', '--run-id', 'model');
    const whole = readFileSync(join(runsDir, 'model/journal.jsonl'));
    const bad = Buffer.from(whole);
    bad.fill(0, whole.length >> 1);
    const contents = [Buffer.alloc(0), whole.subarray(0, whole.length >> 1), bad];
    for (const [index, content] of contents.entries()) {
      cpSync(join(runsDir, 'model'), join(runsDir, `bad-${index}`), { recursive: true });
      writeFileSync(join(runsDir, `bad-${index}/journal.jsonl`), content);
    }
    for (const args of [['history'], ['list'], ['status', 'bad-2'], ['logs', 'bad-1'], ['gc', '--dry-run']]) {
      expect(await wf(...args)).toMatchObject({ code: 0, stderr: expect.not.stringContaining('bug') });
    }
    const listed = (await wf('history')).stdout.split('\n').find((line) => line.startsWith('bad-0 '));
    expect(listed).toMatch(/^bad-0 +w .* failed .*journal\.jsonl" is empty: its events are unknown/);
    const retried = await wf('retry', 'bad-1', '--reporter', 'quiet');
    expect(retried).toMatchObject({ code: 1, stderr: expect.not.stringContaining('bug') });
  });
});
