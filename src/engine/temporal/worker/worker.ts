import type { Worker, WorkerOptions } from '@temporalio/worker';
import { given } from '#core/data/collections.ts';
import type { Labels } from '#core/selectors.ts';
import { messageOf } from '#system/errors.ts';
import { connectWorker, type EngineSettings, packages } from '../connection.ts';
import {
  type AttemptOrder,
  type CleanUpOrder,
  CORE,
  DEFAULT_QUEUE,
  EARLIER_CORES,
  type LockNamesOrder,
  labelsQueue,
  NAMES,
  NO_SLOT,
  type NoticeOrder,
  ownQueue,
  SHORT_QUEUE,
  stepsQueue,
} from '../protocol.ts';
import { executes, identityText, servedLabels, servingWorkers, type WorkerIdentity } from '../workers.ts';
import { GuardReports, type GuardStreams } from './guard.ts';
import { LogShipper, type LogTarget } from './log-shipper.ts';
import { queueCalls } from './queue-calls.ts';
import type { NoticeHost } from './send-notice.ts';
import { SharedSlots } from './slots.ts';
import { type DirectoryTools, enterDirectory } from './worker-directory.ts';
import type { WorkerHost } from './worker-run.ts';
import { type RunTools, WorkerRuns } from './worker-runs.ts';

/** How long the decisions of a run wait for a dead worker that has the run in its cache. */
const STICKY_TIMEOUT = '2 seconds';
/** Work that only this worker can do, such as clean-ups and services, does not wait for its slots. */
const OWN_SLOTS = 1000;

/** Short work, such as notices, that a worker does at once. */
const SHORT_SLOTS = 20;

/** How many runs a worker decides about at once, as without labels. */
const DECISION_SLOTS = 40;

/** How often a worker reports how many attempts it makes. */
const WORKER_HEARTBEAT = '5 seconds';

/** How long the last logs of a worker that stops are waited for. */
const LAST_LOGS_MS = 5000;

export { guardWorker, type RunEnders } from './guard.ts';
export { httpLogTarget } from './http-log-target.ts';
export type { LogTarget };

/** What a worker is made of. */
export type EngineWorkerParts = {
  readonly settings: EngineSettings;
  readonly name: string;
  readonly version: string;
  /** The most attempts at once. */
  readonly slots: number;
  /** Its labels: it serves the queues of all of their combinations. */
  readonly labels: Labels;
  /** Further combinations of labels. */
  readonly serves: readonly Labels[];
  /** How long running attempts may continue after a request to stop, in milliseconds. */
  readonly drainMs: number;
  readonly host: WorkerHost & NoticeHost;
  /** The directory that the workers of this machine share. */
  readonly shared: string;
  readonly tools: DirectoryTools;
  /** Where logs are stored for all machines; null: nowhere. */
  readonly logTarget: LogTarget | null;
  /** Starts the process that calls `guardWorker`. */
  readonly startGuard: () => GuardStreams;
  /** The file with the code of the workflow. */
  readonly workflowCode: string;
  readonly report: (message: string) => void;
};

/** A worker that serves the queue of runs. */
export type EngineWorker = {
  /** Takes no more attempts; the second time it ends those that run. */
  readonly stop: () => void;
  /** Resolves when the worker has stopped. Rejects if it fails. */
  readonly stopped: Promise<void>;
};

type Access = Awaited<ReturnType<typeof connectWorker>>;

/** Starts a worker with its guard. Throws a `WfError`: `usage`, `unreachable`, `conflict`. */
export async function startEngineWorker(parts: EngineWorkerParts): Promise<EngineWorker> {
  const { name, shared, tools, startGuard, report } = parts;
  const directory = await enterDirectory(shared, name, tools);
  if (directory.ended > 0) report(`ended ${directory.ended} processes that a worker had left behind here`);
  const guard = new GuardReports(startGuard);
  const { logTarget: target } = parts;
  const shipper = target === null ? null : new LogShipper({ target, clock: parts.host.clock, report });
  const leave = async () => {
    guard.close();
    const left = (await shipper?.close(LAST_LOGS_MS)) ?? 0;
    if (left > 0) report(`${left} logs are not in the log store yet: the next worker here sends them`);
    directory.leave();
  };
  try {
    await shipper?.recover(directory.left);
    const { stop, stopped } = await serve({ ...parts, directory, guard, shipper });
    return { stop, stopped: stopped.finally(leave) };
  } catch (error) {
    await leave();
    throw error;
  }
}

/** A worker with its directory, its guard, and what sends its logs. */
type Equipped = EngineWorkerParts & RunTools;

async function serve(parts: Equipped): Promise<EngineWorker> {
  const { settings, name, version, slots, labels, serves, drainMs, workflowCode, report, host } = parts;
  const { Worker, Runtime, DefaultLogger } = await packages.worker();
  const logger = new DefaultLogger('WARN', ({ level, message, meta }) => {
    const cause = meta?.['error'];
    if ((cause as { readonly type?: unknown } | undefined)?.type === NO_SLOT) return;
    if (level !== 'WARN' || cause !== undefined)
      report(`${message}${cause === undefined ? '' : `: ${messageOf(cause)}`}`);
  });
  // The program decides what its signals mean.
  Runtime.install({ logger, shutdownSignals: [], workerHeartbeatInterval: WORKER_HEARTBEAT });
  const access = await connectWorker(settings);
  const queues = servedLabels(labels, serves);
  const earlier = EARLIER_CORES.length === 0 ? {} : { earlierCores: EARLIER_CORES };
  const identity = {
    name,
    version,
    core: CORE,
    ...earlier,
    key: access.keyId,
    ...given({ logs: parts.logTarget?.url }),
  };
  const offer = queues.length === 0 ? {} : { offer: { slots, labels, serves } };
  await reportForeign(access, identity, report);
  const runs = new WorkerRuns(access, parts);
  const { connection, namespace, dataConverter } = access;
  const common: WorkerOptions = {
    connection,
    namespace,
    dataConverter,
    taskQueue: DEFAULT_QUEUE,
    identity: identityText({ ...identity, ...offer }),
    shutdownGraceTime: drainMs,
  };
  const shared = queues.length === 0 ? null : new SharedSlots(slots, host.clock);
  const sharing = shared === null ? { maxConcurrentActivityTaskExecutions: slots } : sharedOptions(shared);
  const inSlot = async <T>(work: () => Promise<T>): Promise<T> =>
    shared === null ? work() : shared.within(work, await noSlot());
  const prepare = () => inSlot(() => runs.prepare());
  const attempt = (order: AttemptOrder) => inSlot(() => runs.attempt(order));
  const bind = () => inSlot(async () => name);
  const taken = { [NAMES.attempt]: attempt, [NAMES.bind]: bind };
  const serving = await Worker.create({
    ...common,
    ...sharing,
    workflowBundle: { codePath: workflowCode },
    activities: { [NAMES.prepare]: prepare, ...taken, ...queueCalls },
    stickyQueueScheduleToStartTimeout: STICKY_TIMEOUT,
  });
  const labelled: Worker[] = [];
  for (const text of queues) {
    const taskQueue = labelsQueue(text);
    labelled.push(await Worker.create({ ...common, ...sharing, taskQueue, activities: taken }));
  }
  const short = await Worker.create({
    ...common,
    taskQueue: SHORT_QUEUE,
    activities: {
      [NAMES.notice]: (order: NoticeOrder) => runs.notice(order),
      [NAMES.lockNames]: (order: LockNamesOrder) => runs.lockNames(order),
    },
    maxConcurrentActivityTaskExecutions: SHORT_SLOTS,
  });
  const steps = await Worker.create({
    ...common,
    ...sharing,
    taskQueue: stepsQueue(name),
    activities: { [NAMES.attempt]: attempt },
  });
  const own = await Worker.create({
    ...common,
    taskQueue: ownQueue(name),
    activities: {
      [NAMES.cleanUp]: (order: CleanUpOrder) => runs.cleanUp(order),
      [NAMES.stay]: () => runs.hold(),
      [NAMES.attempt]: (order: AttemptOrder) => runs.attempt(order),
    },
    maxConcurrentActivityTaskExecutions: OWN_SLOTS,
  });
  const close = () => access.connection.close();
  return hosting([serving, ...labelled, short], [steps, own], { runs, close, drainMs });
}

/** Reports workers with which this one cannot share runs. */
async function reportForeign(access: Access, own: WorkerIdentity, report: (message: string) => void): Promise<void> {
  for (const worker of await servingWorkers(access).catch(() => [])) {
    const { name, key, core, version } = worker;
    if (key !== own.key) report(`the worker "${name}" has another key: each run needs workers with its key`);
    else if (!executes(worker, own.core) || !executes(own, core))
      report(`the worker "${name}" has wf ${version}: each run needs workers of its version`);
  }
}

/** The options of workers with the same slots. One question at a time: each one more may bring work without a slot. */
function sharedOptions(shared: SharedSlots): Pick<WorkerOptions, 'tuner' | 'maxConcurrentActivityTaskPolls'> {
  const fixed = (numSlots: number) => ({ type: 'fixed-size', numSlots }) as const;
  return {
    tuner: {
      activityTaskSlotSupplier: shared.supplier,
      workflowTaskSlotSupplier: fixed(DECISION_SLOTS),
      localActivityTaskSlotSupplier: fixed(DECISION_SLOTS),
      nexusTaskSlotSupplier: fixed(1),
    },
    maxConcurrentActivityTaskPolls: 1,
  };
}

/** The error of work that is given back. Its run orders it again. */
async function noSlot(): Promise<() => Error> {
  const { ApplicationFailure } = await packages.activity();
  return () => ApplicationFailure.create({ type: NO_SLOT, message: 'the worker has no free slot' });
}

/** Work that only this worker can do, its `own`, continues while attempts end, as long as runs are bound to it. */
function hosting(
  serving: readonly Worker[],
  own: readonly Worker[],
  { runs, close, drainMs }: { runs: WorkerRuns; close: () => Promise<void>; drainMs: number },
): EngineWorker {
  let isStopping = false;
  const shutDown = (workers: readonly Worker[]) => {
    for (const one of workers) if (one.getState() === 'RUNNING') one.shutdown();
  };
  const running = (workers: readonly Worker[]) =>
    Promise.all(
      workers.map(async (one) => {
        try {
          await one.run();
        } finally {
          shutDown(workers);
        }
      }),
    );
  const stopped = (async () => {
    const ownRun = running(own);
    try {
      await running(serving);
      await runs.drain(drainMs);
    } finally {
      await runs.leave();
      shutDown(own);
      await ownRun;
      await close();
    }
  })();
  return {
    stop: () => {
      if (isStopping) runs.kill();
      else shutDown(serving);
      isStopping = true;
    },
    stopped,
  };
}
