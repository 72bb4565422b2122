import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { ProcessIdentity } from '#core/run/run.ts';
import type { ProcessMoment } from '#engine/engine.ts';
import { executor } from '#executors/command/command.ts';
import { sendSignal, withDescendants } from '#processes/attempt-tree.ts';
import {
  identify,
  isAlive,
  listProcesses,
  mayBeAlive,
  numberBefore,
  processMoment,
} from '#processes/process-identity.ts';
import { endProcesses, findRunProcesses } from '#processes/process-tree.ts';
import { fileText, program, runs, succeeded, testAttempt, until } from '../executors/attempt.ts';

/** An idle process in its own session; killed after the test. */
function idle(argv: readonly string[] = ['sleep', '300']): { child: ChildProcess; identity: ProcessIdentity } {
  const [file = '', ...args] = argv;
  const child = spawn(file, args, { detached: true, stdio: 'ignore' });
  onTestFinished(() => void child.kill('SIGKILL'));
  const identity = identify(child.pid ?? 0);
  if (identity === null) throw new Error('the process has not started');
  return { child, identity };
}

const term = { signal: 'SIGTERM', graceMs: 10_000 } as const;

describe('an identity', () => {
  test('names a process by number, start time, boot and namespace', () => {
    const stat = readFileSync('/proc/self/stat', 'latin1');
    expect(identify(process.pid)).toEqual({
      pid: process.pid,
      startTime: Number(stat.split(') ')[1]?.split(' ')[19]),
      boot: readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim(),
      namespace: ['pid', 'time'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`).replace(/\D/g, '')).join('.'),
    });
  });

  test('is right for a program with spaces and parentheses in its name', async () => {
    const { identity } = idle([process.execPath, '-e', 'process.title = "a) S 1 2 ("; setInterval(() => {}, 9e5)']);
    await until(() => readFileSync(`/proc/${identity.pid}/stat`, 'latin1').includes('a) S 1 2 ('));
    expect({ again: identify(identity.pid), alive: isAlive(identity) }).toEqual({ again: identity, alive: true });
  });

  test('of another namespace or boot is unknown here', () => {
    const own = identify(process.pid) as ProcessIdentity;
    const { namespace: _, ...ofEarlierVersion } = own;
    for (const other of [
      { ...own, namespace: '1.2' },
      { ...own, namespace: null },
      { ...own, boot: 'another' },
      ofEarlierVersion,
    ]) {
      expect([isAlive(other), mayBeAlive(other)]).toEqual([false, true]);
    }
    expect(mayBeAlive({ ...own, startTime: (own.startTime ?? 0) + 1 })).toBe(false);
  });

  test('differs for another start time, another boot, no process', () => {
    const own = identify(process.pid) as ProcessIdentity;
    expect(isAlive(own)).toBe(true);
    expect(isAlive({ ...own, startTime: (own.startTime ?? 0) + 1 })).toBe(false);
    expect(isAlive({ ...own, boot: 'another' })).toBe(false);
    expect(isAlive({ ...own, startTime: null, boot: null })).toBe(false);
    expect({ found: identify(2 ** 30), alive: isAlive({ ...own, pid: 2 ** 30 }) }).toEqual({
      found: null,
      alive: false,
    });
  });

  test('is not alive once the process has ended, even if its parent has not noticed', async () => {
    const { child, identity } = idle(['sh', '-c', 'sh -c "exit 0" & exec sleep 300']);
    let zombie: ProcessIdentity | null = null;
    await until(() => {
      const [pid] = readFileSync(`/proc/${identity.pid}/task/${identity.pid}/children`, 'latin1').split(' ');
      zombie = identify(Number(pid));
      return zombie !== null && readFileSync(`/proc/${pid}/stat`, 'latin1').includes(') Z ');
    });
    expect(zombie === null ? null : isAlive(zombie)).toBe(false);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect(isAlive(identity)).toBe(false);
  });
});

/** Mark of a run whose processes do not name a logs directory. */
const marked = (runId: string) => ({ runId, logs: '/nowhere' });

describe('the processes of a run', () => {
  test('are found in the background of an ended step, and no others', async () => {
    const { attempt, started } = testAttempt({ step: { command: 'sleep 300 & sleep 300 & true' } });
    const other = testAttempt({ step: { command: 'sleep 300 & true' } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    expect(await executor.run({}, other.attempt)).toEqual(succeeded);
    const find = () => findRunProcesses(marked(attempt.runId), { recorded: [] });
    // At first each is still the shell that becomes it.
    await until(() => find().every(({ pid }) => commandLine(pid) === 'sleep 300'));
    const found = find();
    expect(found.map(({ pid }) => commandLine(pid))).toEqual(['sleep 300', 'sleep 300']);
    expect(found.some(({ pid }) => pid === started[0]?.pid)).toBe(false);
  });

  test('are found in a session of their own by the id in their environment', async () => {
    const { attempt, dir } = testAttempt({ step: { command: `${program('daemon.sh')} pid` } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    const daemon = Number(await fileText(join(dir, 'pid')));
    expect(findRunProcesses(marked(attempt.runId), { recorded: [] })).toEqual([identify(daemon)]);
    expect(findRunProcesses(marked(attempt.runId.slice(0, -1)), { recorded: [] })).toEqual([]);
  });

  test('are found during execve, when they have no environment', async () => {
    const { attempt, dir } = testAttempt({ step: { command: `setsid ${program('again.sh')} ready & true` } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    const pid = Number(await fileText(join(dir, 'ready')));
    for (let look = 0; look < 200; look++)
      expect(findRunProcesses(marked(attempt.runId), { recorded: [] })).toEqual([identify(pid)]);
  });

  test('are not those of a run that another store has under the same id', async () => {
    const log = (store: string) => ({ variables: { WF_LOG_FILE: `/${store}/runs/same/logs/1.out` } });
    const { attempt } = testAttempt({ ...log('one'), step: { command: 'sleep 300 & true' } });
    const other = testAttempt({ ...log('two'), runId: attempt.runId, step: { command: 'sleep 300 & true' } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    expect(await executor.run({}, other.attempt)).toEqual(succeeded);
    const find = (store: string) =>
      findRunProcesses({ runId: attempt.runId, logs: `/${store}/runs/same/logs` }, { recorded: [] });
    // No other test uses these marks.
    onTestFinished(() => {
      for (const left of [...find('one'), ...find('two')]) sendSignal(left, 'SIGKILL');
    });
    const logsOf = (store: string) => find(store).map(({ pid }) => environment(pid)['WF_LOG_FILE']);
    expect([logsOf('one'), logsOf('two'), logsOf('three')]).toEqual([
      ['/one/runs/same/logs/1.out'],
      ['/two/runs/same/logs/1.out'],
      [],
    ]);
  });

  test('are found as descendants even with the id of a child run', async () => {
    const command = 'WF_RUN_ID=inner setsid sh -c "sleep 300 & sleep 300" & sleep 300';
    const { attempt, processes } = testAttempt({ step: { command } });
    const running = executor.run({}, attempt);
    await until(() => processes().filter(({ pid }) => commandLine(pid) === 'sleep 300').length === 3);
    await endProcesses(processes(), term);
    expect(await running).toEqual(expect.objectContaining({ status: 'failed' }));
    expect(processes()).toEqual([]);
  });

  test('without the id are found in the session of a leader that still lives', async () => {
    const { attempt, started } = testAttempt({ step: { command: 'env -i sleep 300 & exec env -i sleep 300' } });
    void executor.run({}, attempt);
    await until(() => started.length === 1);
    const [leader] = started as ProcessIdentity[];
    await until(() => findRunProcesses(marked('nothing'), { recorded: leader ? [leader] : [] }).length === 2);
    await until(() => findRunProcesses(marked(attempt.runId), { recorded: [] }).length === 0);
    const impostor = { ...leader, startTime: 1 } as ProcessIdentity;
    expect(findRunProcesses(marked(attempt.runId), { recorded: [impostor] })).toEqual([]);
    await endProcesses(findRunProcesses(marked(attempt.runId), { recorded: leader ? [leader] : [] }), term);
    expect(findRunProcesses(marked(attempt.runId), { recorded: leader ? [leader] : [] })).toEqual([]);
  });

  test('without the id are found after the end of their leader when they began before it', async () => {
    const { attempt, started, stdout } = testAttempt({ step: { command: 'env -i sleep 300 & echo $!' } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    const left = identify(Number(stdout())) as ProcessIdentity;
    onTestFinished(() => void process.kill(left.pid, 'SIGKILL'));
    await until(() => findRunProcesses(marked(attempt.runId), { recorded: [] }).length === 0);
    const leader = started[0] as ProcessIdentity;
    const find = (endedAt?: number) => findRunProcesses(marked(attempt.runId), { recorded: [{ ...leader, endedAt }] });
    expect(find(Date.now())).toEqual([left]);
    expect({ unknown: find(), before: find(Date.now() - 60_000) }).toEqual({ unknown: [], before: [] });
  });

  test('are only those of some steps on request', async () => {
    const one = testAttempt({ name: 'one', step: { command: 'sleep 300 & true' } });
    const two = testAttempt({ name: 'two', runId: one.attempt.runId, step: { command: 'sleep 300 & true' } });
    await executor.run({}, one.attempt);
    await executor.run({}, two.attempt);
    const find = (options: { steps?: Set<string>; spared?: Set<string> }) =>
      findRunProcesses(marked(one.attempt.runId), { recorded: [], ...options }).map(
        ({ pid }) => environment(pid)['WF_STEP'],
      );
    // A process has no environment while it becomes another program.
    await until(() => find({}).every((step) => step !== undefined));
    expect(find({}).sort()).toEqual(['one', 'two']);
    expect(find({ steps: new Set(['one']) })).toEqual(['one']);
    expect(find({ spared: new Set(['one']) })).toEqual(['two']);
  });

  test('are searched only among those started since a given time', async () => {
    const before = processMoment() as ProcessMoment;
    const { attempt, started } = testAttempt({ step: { command: 'sleep 300 & true' } });
    expect(await executor.run({}, attempt)).toEqual(succeeded);
    const after = processMoment() as ProcessMoment;
    const recorded = started as ProcessIdentity[];
    const [left] = findRunProcesses(marked(attempt.runId), { recorded: [] });
    expect(findRunProcesses(marked(attempt.runId), { recorded, since: before })).toEqual([left]);
    // Process numbers may have wrapped around in between; then all processes are examined again.
    expect(findRunProcesses(marked(attempt.runId), { recorded: [], since: after })).toEqual(
      numberBefore(after) === 0 ? [left] : [],
    );
    expect(findRunProcesses(marked(attempt.runId), { recorded, since: after })).toEqual([left]);
    expect(
      findRunProcesses(marked(attempt.runId), { recorded: [], since: { ...after, forks: after.forks - 1e9 } }),
    ).toEqual([left]);
    expect(numberBefore({ ...after, lastPid: after.lastPid + 1e9 })).toBe(0);
  });

  test('are found among few and among many numbers assigned since, and none is found where all have ended', async () => {
    const since = processMoment() as ProcessMoment;
    const { child, identity } = idle();
    const many = since.lastPid - 1000;
    const above = (pid: number) => listProcesses(pid).filter((entry) => entry.pid === identity.pid).length;
    expect([above(since.lastPid), above(many), above(identity.pid)]).toEqual([1, 1, 0]);
    child.kill('SIGKILL');
    await once(child, 'exit');
    expect([above(since.lastPid), above(many)]).toEqual([0, 0]);
  });

  test('are never this process or an ancestor, even if everything matches', () => {
    const { identity } = idle();
    const everything = listProcesses();
    const found = new Set(withDescendants(everything, everything).map(({ pid }) => pid));
    expect([process.pid, process.ppid, 1, identity.pid].map((pid) => found.has(pid))).toEqual([
      false,
      false,
      false,
      true,
    ]);
  });
});

describe('ending processes', () => {
  test('sends a signal first', async () => {
    const { child, identity } = idle();
    const exit = once(child, 'exit');
    await endProcesses([identity], term);
    expect(await exit).toEqual([null, 'SIGTERM']);
  });

  test('kills those that stay after the grace period, with everything they have started', async () => {
    const { attempt, dir, processes } = testAttempt({ step: { command: `${program('ignore-term.sh')} ready` } });
    const running = executor.run({}, attempt);
    await until(() => processes().length === 2);
    await until(() => existsSync(join(dir, 'ready')));
    const [leader] = processes();
    await endProcesses(leader ? [leader] : [], { signal: 'SIGTERM', graceMs: 20 });
    expect(await running).toEqual(expect.objectContaining({ signal: 'SIGKILL' }));
    expect(processes()).toEqual([]);
  });

  test('stops waiting on a kill', async () => {
    const { child, identity } = idle([
      process.execPath,
      '-e',
      'process.on("SIGHUP", () => {}); setInterval(() => {}, 9e5)',
    ]);
    const cut = new AbortController();
    const exit = once(child, 'exit');
    const ended = endProcesses([identity], { signal: 'SIGCONT', graceMs: 2 ** 30, kill: cut.signal });
    cut.abort();
    await ended;
    expect(await exit).toEqual([null, 'SIGKILL']);
  });

  test('never signals a process that reuses the number of another', async () => {
    const { identity } = idle();
    const sent = vi.spyOn(process, 'kill');
    onTestFinished(() => sent.mockRestore());
    await endProcesses(
      [
        { ...identity, startTime: (identity.startTime ?? 0) - 1 },
        { ...identity, boot: 'last' },
      ],
      term,
    );
    expect({ sent: sent.mock.calls, alive: runs(identity.pid) }).toEqual({ sent: [], alive: true });
  });

  test('of an empty list does nothing', async () => {
    await expect(endProcesses([], term)).resolves.toBeUndefined();
  });
});

function commandLine(pid: number): string {
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
}

function environment(pid: number): Record<string, string> {
  const entries = readFileSync(`/proc/${pid}/environ`, 'utf8')
    .split('\0')
    .filter((entry) => entry.includes('='));
  return Object.fromEntries(
    entries.map((entry) => [entry.slice(0, entry.indexOf('=')), entry.slice(entry.indexOf('=') + 1)]),
  );
}
