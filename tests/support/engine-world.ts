import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Outcome, StoredEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Capture } from '#engine/attempt/attempt-context.ts';
import type { LockOptions } from '#engine/attempt/run-locks.ts';
import type { ActiveRun, Notify, RetryChild, RunRequest } from '#engine/engine.ts';
import type { FindSubworkflow } from '#engine/local/engine-options.ts';
import { createRunHost } from '#engine/local/run-host.ts';
import type { Attempt } from '#executors/executor.ts';
import { NamedPipes } from '#processes/named-pipes.ts';
import { identify, isAlive } from '#processes/processes.ts';
import { createLocks } from '#store/files/locks/locks.ts';
import { createMemoryStore } from '#store/memory.ts';
import type { RunJournal, RunStore } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { createFakeClock, type FakeClock } from './fake-clock.ts';

/** How a step of a test does its work. */
export type Work = (attempt: Attempt) => Outcome | Promise<Outcome>;

/** An engine whose steps do what a test says, with a clock that the test moves. */
export type EngineWorld = {
  readonly clock: FakeClock;
  readonly start: (workflow: Workflow, request?: Partial<RunRequest>) => ActiveRun;
  /** All events of all runs so far, in the order of their arrival. */
  readonly events: StoredEvent[];
  /** Resolves with the first event of that type and step, also if it has already arrived. */
  readonly told: (type: StoredEvent['type'], step?: string) => Promise<StoredEvent>;
  /** Types of the events, with the step where there is one. */
  readonly story: () => string[];
};

/** What a test changes of the world. */
export type WorldOptions = {
  readonly work?: Readonly<Record<string, Work>>;
  readonly capture?: Capture;
  readonly wrapStore?: (store: RunStore) => RunStore;
  readonly findSubworkflow?: FindSubworkflow;
  readonly retryChild?: RetryChild;
  readonly processEnv?: Readonly<Record<string, string>>;
  readonly notify?: Notify;
  /** Default: locks of this world, each with one slot. */
  readonly locks?: LockOptions;
};

/** Makes a world for the time of a function. */
export async function withEngine<T>(options: WorldOptions, use: (world: EngineWorld) => Promise<T>): Promise<T> {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  try {
    return await use(createWorld(directory, options));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function createWorld(directory: string, options: WorldOptions): EngineWorld {
  const clock = createFakeClock();
  const events: StoredEvent[] = [];
  const listeners = new Set<() => void>();
  const store = createMemoryStore({ tempDir: () => directory });
  const pipes = new NamedPipes({ PATH: process.env['PATH'] ?? '' });
  const work: Work = (attempt) => (options.work?.[attempt.step.name] ?? succeed)(attempt);
  let runs = 0;
  const host = createRunHost({
    store: options.wrapStore?.(store) ?? store,
    clock,
    processEnv: options.processEnv ?? {},
    owner: { pid: 1, startTime: 1, boot: 'boot', host: 'host' },
    executor: () => ({ run: async (_, attempt) => work(attempt) }),
    capture: options.capture ?? (() => Promise.reject(new Error('no capture in this test'))),
    background: { moment: () => null, find: () => [], end: () => Promise.resolve() },
    findSubworkflow: options.findSubworkflow ?? noSubworkflow,
    retryChild: options.retryChild ?? (() => Promise.resolve(null)),
    openPipe: (at) => pipes.open(at),
    newRunId: () => `child-${++runs}`,
    notify: options.notify ?? (() => null),
    locks: options.locks ?? {
      open: async () => createLocks(join(directory, 'runs'), { identify, isAlive, settle: async () => {} }),
      sizeOf: () => 1,
      perMinute: () => null,
    },
  });
  const watch = (event: StoredEvent) => {
    events.push(event);
    for (const listener of listeners) listener();
  };
  return {
    clock,
    events,
    start: (workflow, request = {}) => host.start({ ...defaults, workflow, ...request }, watch),
    told: (type, step) =>
      new Promise((resolve) => {
        const look = () => {
          const found = events.find(
            (event) => event.type === type && (step === undefined || ('step' in event && event.step === step)),
          );
          if (!found) return;
          listeners.delete(look);
          resolve(found);
        };
        listeners.add(look);
        look();
      }),
    story: () =>
      events.map((event) => ('step' in event && event.step !== null ? `${event.type} ${event.step}` : event.type)),
  };
}

const defaults = {
  runId: 'run-1',
  sources: [],
  params: [],
  trigger: 'cli',
  retryOf: null,
  restored: [],
  ancestors: [],
} as const;

const succeed: Work = (attempt) => {
  attempt.started(null);
  return { status: 'succeeded', exitCode: 0, outputs: {} };
};

const noSubworkflow: FindSubworkflow = ({ run }) => {
  throw new WfError('not-found', `no workflow "${run}"`);
};

/** Work that runs until it is stopped, and then ends like a process that the signal kills. */
export const untilStopped: Work = (attempt) => {
  attempt.started(null);
  return new Promise((resolve) => {
    const end = () =>
      resolve({
        status: 'failed',
        reason: 'signal',
        message: 'killed by SIGTERM',
        exitCode: 143,
        signal: 'SIGTERM',
        outputs: {},
      });
    attempt.signal.onAbort(end);
  });
};

/** Work that only a kill ends. */
export const untilKilled: Work = (attempt) => {
  attempt.started(null);
  return new Promise((resolve) => {
    const end = () =>
      resolve({
        status: 'failed',
        reason: 'signal',
        message: 'killed by SIGKILL',
        exitCode: 137,
        signal: 'SIGKILL',
        outputs: {},
      });
    attempt.kill.onAbort(end);
  });
};

/** A store whose journals pass through `change` first. */
export function withJournal(change: (journal: RunJournal) => Partial<RunJournal>): (store: RunStore) => RunStore {
  return (store) => ({
    ...store,
    create: (...request) => {
      const journal = store.create(...request);
      return { ...journal, ...change(journal) };
    },
  });
}
