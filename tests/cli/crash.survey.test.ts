import { spawn, spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { identify, isAlive } from '#processes/process-identity.ts';
import { endProcesses, findRunProcesses } from '#processes/process-tree.ts';
import { createFileStore } from '#store/files/file-store.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { launcher, withDirectory } from '../support/wf.ts';

/**
 * Every step leaves a mark when it begins and one when it ends, so that what really happened can be held against what
 * the journal says after the crash.
 */
const marking = `maxActiveSteps: 2
steps:
${Array.from({ length: 6 }, (_, i) => step(i)).join('')}`;

function step(number: number): string {
  const depends = number < 2 ? '' : `    depends: s${number - 2}\n`;
  return `  - name: s${number}\n    command: sh -c 'echo begin s${number} >> marks; echo end s${number} >> marks'\n${depends}`;
}

type Aftermath = {
  readonly events: readonly StoredEvent[];
  readonly damage: readonly string[];
  readonly marks: readonly string[];
};

/** What is left in the directory of a crashed run; null when the run was never accepted. */
async function aftermath(cwd: string): Promise<Aftermath | null> {
  const store = createFileStore({ runsDir: join(cwd, 'home/runs'), identify, isAlive });
  const left = findRunProcesses({ runId: 'crash', logs: join(cwd, 'home/runs/crash/logs') }, { recorded: [] });
  await endProcesses(left, { signal: 'SIGKILL', graceMs: 0 });
  const run = store.read('crash');
  const marks = existsSync(join(cwd, 'marks')) ? readFileSync(join(cwd, 'marks'), 'utf8').trimEnd().split('\n') : [];
  if (run === null) {
    expect(marks).toEqual([]);
    return null;
  }
  return { events: run.events, damage: run.damage, marks };
}

/** No attempt began without a record, no end is on record that did not happen, nothing is built on what is not on record. */
function check({ events, damage, marks }: Aftermath): void {
  // Killed before its first event, which looks like a lost journal.
  expect(damage).toEqual(events.length > 0 ? [] : [expect.stringMatching(/is empty|has no whole line/)]);
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
  const steps = (type: StoredEvent['type']) =>
    events.flatMap((event) => (event.type === type && 'step' in event ? [event.step] : []));
  const scheduled = new Set(steps('step.scheduled'));
  const begun = marks.flatMap((mark) => (mark.startsWith('begin ') ? [mark.slice('begin '.length)] : []));
  const ended = new Set(marks.flatMap((mark) => (mark.startsWith('end ') ? [mark.slice('end '.length)] : [])));
  const finished = new Set(
    events.flatMap((event) => (event.type === 'step.finished' && event.status === 'succeeded' ? [event.step] : [])),
  );
  expect(begun.filter((name) => !scheduled.has(name))).toEqual([]);
  expect([...finished].filter((name) => !ended.has(name))).toEqual([]);
  expect(
    begun.filter((name) => Number(name?.slice(1)) >= 2 && !finished.has(`s${Number(name?.slice(1)) - 2}`)),
  ).toEqual([]);
}

const program = [launcher, 'run', 'w.yaml', '--run-id', 'crash', '--reporter', 'quiet'];

function environment(cwd: string): Record<string, string> {
  return { PATH: process.env['PATH'] ?? '', WF_HOME: join(cwd, 'home'), LANG: 'C.UTF-8' };
}

/** How long the run takes on this machine as busy as it is, so that kills fall before it, into it and behind it. */
async function durationMs(): Promise<number> {
  return withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), marking);
    const started = performance.now();
    for (let run = 0; run < 3; run++) {
      rmSync(join(cwd, 'home/runs'), { recursive: true, force: true });
      spawnSync(process.execPath, program, { cwd, env: environment(cwd) });
    }
    return (performance.now() - started) / 3;
  });
}

describe('a hard kill of wf run', () => {
  it('at any moment loses no finished step and starts no attempt without a record', async () => {
    const outcomes = { accepted: 0, finished: 0 };
    const wholeMs = await durationMs();
    for (let trial = 0; trial < 60; trial++) {
      await withDirectory(async (cwd) => {
        writeFileSync(join(cwd, 'w.yaml'), marking);
        const child = spawn(process.execPath, program, { cwd, env: environment(cwd), stdio: 'ignore' });
        const ended = new Promise((resolve) => child.once('exit', resolve));
        const timer = setTimeout(() => child.kill('SIGKILL'), wholeMs * (0.3 + trial / 75));
        await ended;
        clearTimeout(timer);
        const found = await aftermath(cwd);
        if (found === null) return;
        check(found);
        outcomes.accepted++;
        if (found.events.at(-1)?.type === 'run.finished') outcomes.finished++;
      });
    }
    // Some must have been killed in the middle, else nothing was tried.
    expect(outcomes.accepted - outcomes.finished).toBeGreaterThan(0);
  }, 120_000);
});

describeWith('strace', isInstalled('strace'), 'a hard kill of wf run at every system call on the journal', () => {
  it('leaves the journal intact', async () => {
    const calls = await withDirectory(async (cwd) => {
      writeFileSync(join(cwd, 'w.yaml'), marking);
      return journalCalls(cwd);
    });
    expect(calls.length).toBeGreaterThan(10);
    expect(new Set(calls.map(({ name }) => name))).toEqual(new Set(['write', 'rename', 'openat', 'fdatasync']));
    for (const { name, number, follow } of calls) {
      await withDirectory(async (cwd) => {
        writeFileSync(join(cwd, 'w.yaml'), marking);
        trace(cwd, [...follow, '-e', `inject=${name}:signal=SIGKILL:when=${number}`, '-e', `trace=${name}`]);
        const found = await aftermath(cwd);
        if (found !== null) check(found);
      });
    }
  }, 300_000);
});

type JournalCall = { readonly name: string; readonly number: number; readonly follow: readonly string[] };

/** The calls that touch the journal, each by its name and its number among the calls of that name in its thread. */
function journalCalls(cwd: string): readonly JournalCall[] {
  const own = callsOf(cwd, [], 'write,ftruncate,rename,openat', isAboutJournal);
  // Flushes are made by the threads of a pool, each of which counts for itself.
  const flushes = callsOf(cwd, ['-f'], 'fdatasync', () => true);
  return [...own, ...flushes];
}

function isAboutJournal(line: string): boolean {
  return line.includes('journal.jsonl') || (line.includes('rename(') && line.includes('/runs/'));
}

function callsOf(cwd: string, follow: readonly string[], names: string, isMeant: (line: string) => boolean) {
  rmSync(join(cwd, 'home'), { recursive: true, force: true });
  trace(cwd, [...follow, '-y', '-o', 'trace', '-e', `trace=${names}`]);
  const counts = new Map<string, number>();
  return readFileSync(join(cwd, 'trace'), 'utf8')
    .split('\n')
    .flatMap((line): JournalCall[] => {
      const [, thread = '', name = ''] = /^(?:(\d+) +)?(\w+)\(/.exec(line) ?? [];
      const number = (counts.get(`${thread} ${name}`) ?? 0) + 1;
      counts.set(`${thread} ${name}`, number);
      return name !== '' && isMeant(line) ? [{ name, number, follow }] : [];
    });
}

/** Runs wf under strace to its end or to the kill that the flags ask for. */
function trace(cwd: string, flags: readonly string[]): void {
  const { error, stderr } = spawnSync('strace', [...flags, process.execPath, ...program], {
    cwd,
    env: environment(cwd),
  });
  if (error) throw error;
  if (/invalid|unrecognized/.test(stderr.toString())) throw new Error(stderr.toString());
}
