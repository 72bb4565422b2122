import type { temporal } from '@temporalio/proto';
import { type Labels, labelsText, readLabels } from '#core/selectors.ts';
import { WfError } from '#system/errors.ts';
import type { EngineAccess } from './connection.ts';
import { timeOf } from './history.ts';
import { CORE, DEFAULT_QUEUE, ownQueue, SHORT_QUEUE } from './protocol.ts';

/**
 * What a worker says of itself with each poll. `earlierCores`: further cores whose runs it can execute, absent: none; `key`:
 * `keyId` of its key; `logs`: the address of its log store, absent: it has none.
 */
export type WorkerIdentity = {
  readonly name: string;
  readonly version: string;
  readonly core: number;
  readonly earlierCores?: readonly number[];
  readonly logs?: string;
  readonly key: string | null;
  /** Absent: it serves only what needs no labels. */
  readonly offer?: WorkerOffer;
};

/** The labels of a worker, further combinations that it serves, and its slots, which all its queues share. */
export type WorkerOffer = {
  readonly slots: number;
  readonly labels: Labels;
  readonly serves: readonly Labels[];
};

/** A worker that asks Temporal for work; `lastSeenAt`: by the clock of Temporal. */
export type ServingWorker = WorkerIdentity & { readonly lastSeenAt: number };

/**
 * A worker with the attempts that it makes: `running` of `slots`, as it reported with its last heartbeat. Null if Temporal
 * keeps no heartbeats.
 */
export type WorkerReport = ServingWorker & { readonly slots: number | null; readonly running: number | null };

type WorkflowService = temporal.api.workflowservice.v1.WorkflowService;
type Connected<Calls extends keyof WorkflowService = 'describeTaskQueue'> = {
  readonly workflowService: Pick<WorkflowService, Calls>;
  readonly withDeadline: <T>(deadline: number, call: () => Promise<T>) => Promise<T>;
};

/** A poll waits for work for a minute at most; workers that have gone stay listed for five. */
const GONE_AFTER_MS = 75_000;
/** Workers whose slots are all taken do not ask for attempts, but for decisions about runs. */
const DECISIONS = 1;
/** A server whose queues do not work takes the question, and does not answer. */
const LIMIT_MS = 10_000;

/**
 * The identity of a worker as Temporal shows it: `name (wf 0.1.0, core 1, key 1a2b3c4d)`; with labels `name (wf 0.1.0, core 1,
 * 4 slots, labels gpu=true,os=linux, serves arch=arm64 region=eu)`; with an earlier core and a log store `name (wf 0.2.0,
 * core 2+1, logs file:/shared/logs)`.
 */
export function identityText({ name, version, core, earlierCores = [], key, offer, logs }: WorkerIdentity): string {
  const more = [
    ...(key === null ? [] : [`key ${key}`]),
    ...(offer === undefined ? [] : [`${offer.slots} slots`]),
    ...(offer === undefined || labelsText(offer.labels) === '' ? [] : [`labels ${labelsText(offer.labels)}`]),
    ...(offer === undefined || offer.serves.length === 0 ? [] : [`serves ${offer.serves.map(labelsText).join(' ')}`]),
    ...(logs === undefined ? [] : [`logs ${logs}`]),
  ];
  return `${name} (${[`wf ${version}`, `core ${[core, ...earlierCores].join('+')}`, ...more].join(', ')})`;
}

/** Reads `identityText`; null for a worker of another program. */
export function readIdentity(text: string): WorkerIdentity | null {
  const [, name, version, cores, key = null, slots, labels, serves, logs] = IDENTITY.exec(text) ?? [];
  if (name === undefined || version === undefined || cores === undefined) return null;
  const [core = 0, ...earlierCores] = cores.split('+').map(Number);
  const more = { ...(earlierCores.length === 0 ? {} : { earlierCores }), ...(logs === undefined ? {} : { logs }) };
  const own = { name, version, core, key, ...more };
  if (slots === undefined) return own;
  const read = (one: string | undefined) => {
    const found = one === undefined ? { labels: {} } : readLabels(one);
    return 'labels' in found ? found.labels : {};
  };
  const others = serves === undefined ? [] : serves.split(' ').map(read);
  return { ...own, offer: { slots: Number(slots), labels: read(labels), serves: others } };
}

const IDENTITY =
  /^(.+) \(wf ([^\s,]+), core (\d+(?:\+\d+)*)(?:, key ([0-9a-f]+))?(?:, (\d+) slots(?:, labels (\S+?))?(?:, serves (.+?))?)?(?:, logs (.+))?\)$/;

/** Whether a worker can execute runs of a core. */
export function executes({ core, earlierCores = [] }: WorkerIdentity, wanted: number): boolean {
  return core === wanted || earlierCores.includes(wanted);
}

/** The combinations of labels that a worker serves besides none, each as `labelsText`. */
export function servedLabels(labels: Labels, serves: readonly Labels[]): readonly string[] {
  const combinations: Labels[] = [{}];
  for (const [name, value] of Object.entries(labels))
    combinations.push(...combinations.map((some) => ({ ...some, [name]: value })));
  return [...new Set([...combinations, ...serves].map(labelsText))].filter((text) => text !== '');
}

/** Whether a worker serves what needs these labels, as `labelsText`; empty: any worker does. */
export function servesLabels({ offer }: Pick<WorkerIdentity, 'offer'>, labels: string): boolean {
  return labels === '' || (offer !== undefined && servedLabels(offer.labels, offer.serves).includes(labels));
}

/** The workers of an engine; those of other programs are left out. Rejects with the errors of the connection. */
export async function servingWorkers({
  connection,
  namespace,
}: Pick<EngineAccess<Connected>, 'connection' | 'namespace'>): Promise<readonly ServingWorker[]> {
  const taskQueue = { name: DEFAULT_QUEUE };
  const { pollers } = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
    connection.workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: DECISIONS }),
  );
  return (pollers ?? []).flatMap(({ identity, lastAccessTime }) => {
    const known = readIdentity(identity ?? '');
    const lastSeenAt = timeOf(lastAccessTime);
    return known === null || Date.now() - lastSeenAt > GONE_AFTER_MS ? [] : [{ ...known, lastSeenAt }];
  });
}

/** The codes of gRPC of a server, or a namespace, without heartbeats of workers. */
const NO_HEARTBEATS = new Set([3, 9, 12]);

/** The workers that serve the queue of runs, by their names, with what they do. Rejects as `servingWorkers`. */
export async function workerReports(
  access: Pick<
    EngineAccess<Connected<'describeTaskQueue' | 'listWorkers' | 'describeWorker'>>,
    'connection' | 'namespace'
  >,
): Promise<readonly WorkerReport[]> {
  const { connection, namespace } = access;
  const serving = await servingWorkers(access);
  const service = connection.workflowService;
  const listed = await connection
    .withDeadline(Date.now() + LIMIT_MS, () => service.listWorkers({ namespace }))
    .catch((error: unknown) => {
      if (NO_HEARTBEATS.has(Number((error as { readonly code?: unknown }).code))) return null;
      throw error;
    });
  const reports = serving.map(async (worker): Promise<WorkerReport> => {
    // Not for steps: these queues have slots of their own.
    const others = [ownQueue(worker.name), SHORT_QUEUE];
    const ofWorker = (listed?.workers ?? [])
      .filter(
        ({ workerIdentity, taskQueue }) => workerIdentity === identityText(worker) && !others.includes(taskQueue ?? ''),
      )
      .sort((one, other) => Number(other.startTime?.seconds ?? 0) - Number(one.startTime?.seconds ?? 0));
    // An earlier process of the same name may be listed too.
    const latest = [...new Map(ofWorker.map((one) => [one.taskQueue, one] as const).reverse()).values()];
    const found = await Promise.all(
      latest.map(async ({ workerInstanceKey, taskQueue }) => {
        const { workerInfo } = await connection.withDeadline(Date.now() + LIMIT_MS, () =>
          service.describeWorker({ namespace, workerInstanceKey: workerInstanceKey ?? '' }),
        );
        return { ...workerInfo?.workerHeartbeat?.activityTaskSlotsInfo, taskQueue };
      }),
    );
    const first = found.find(({ taskQueue }) => taskQueue === DEFAULT_QUEUE);
    if (first === undefined) return { ...worker, slots: worker.offer?.slots ?? null, running: null };
    const running = found.reduce((sum, { currentUsedSlots }) => sum + (currentUsedSlots ?? 0), 0);
    const slots = worker.offer?.slots ?? (first.currentUsedSlots ?? 0) + (first.currentAvailableSlots ?? 0);
    return { ...worker, slots, running: Math.min(running, slots) };
  });
  return (await Promise.all(reports)).sort((one, other) => (one.name < other.name ? -1 : 1));
}

/**
 * Refuses to start a run that no worker can execute, although some serve its queue: they have another key, or another
 * version. Throws a `WfError` `conflict`.
 */
export function refuseForeign(workers: readonly WorkerIdentity[], key: string | null): void {
  const ofKey = workers.filter((worker) => worker.key === key);
  if (workers.length === 0 || ofKey.some((worker) => executes(worker, CORE))) return;
  const names = (ofKey.length === 0 ? workers : ofKey).map(({ name, version }) => `"${name}" (wf ${version})`);
  if (ofKey.length === 0) throw new WfError('conflict', foreignKey(names, key), { help: KEY_HELP });
  throw new WfError('conflict', `no worker of the engine executes runs of this version of wf: ${names.join(', ')}`, {
    help: `use the same release of wf for workers and callers: this command starts runs of core ${CORE}`,
  });
}

/** How to end a problem of keys. */
export const KEY_HELP = 'workers and callers of an engine need the same engineKeyFile';

function foreignKey(names: readonly string[], key: string | null): string {
  const theirs =
    key === null ? 'use a key (engineKeyFile), and this command has none' : 'do not have the key of this command';
  return `the workers of the engine ${theirs}: ${names.join(', ')}`;
}
