import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import type { Connection } from '@temporalio/client';
import { WfError } from '#system/errors.ts';
import { type EngineAccess, type EngineSettings, using } from '../connection.ts';
import { timeOf } from '../history.ts';
import { CORE, DEFAULT_QUEUE } from '../protocol.ts';
import {
  executes,
  KEY_HELP,
  refuseForeign,
  servingWorkers,
  type WorkerIdentity,
  type WorkerReport,
  workerReports,
} from '../workers.ts';

export { createFitCheck, type FitCheck } from './engine-fit.ts';
export type { WorkerReport };

/** The result of one check, as `wf doctor` prints it. `detail`: one line; `help`: how to fix the problem. */
type EngineCheck = {
  readonly name: string;
  readonly ok: boolean;
  readonly version: string | null;
  readonly detail: string;
  readonly help: string | null;
};

/** Histories that are kept for a shorter time may be gone before a copy of their run is complete. */
const MIN_RETENTION_S = 3 * 24 * 3600;
/** Heartbeats and the search for workers compare times of two machines. */
const MAX_CLOCK_OFFSET_MS = 2000;
const CALL_MS = 10_000;
/** How long Temporal has to show its time. */
const CLOCK_POLL_MS = 10_000;
const CLOCK_PAUSE_MS = 50;

/** Returns the workers of an engine. Throws a `WfError`: `usage`, `unreachable`. */
export function listWorkers(settings: EngineSettings): Promise<readonly WorkerReport[]> {
  return using(settings, workerReports);
}

/** This program: its version, and the log store of its settings; null: none. */
type Own = { readonly version: string; readonly logs: string | null };

/** Checks whether an engine can carry out runs; an engine that cannot be reached is the one check that fails. */
export async function inspectEngine(settings: EngineSettings, own: Own): Promise<readonly EngineCheck[]> {
  try {
    return await using(settings, (access) => inspect(access, settings, own));
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return [failed('engine', error.message, error.help ?? 'check the address')];
  }
}

async function inspect(
  access: EngineAccess<Connection>,
  { url }: EngineSettings,
  own: Own,
): Promise<readonly EngineCheck[]> {
  const { connection, namespace, keyId } = access;
  const { workflowService } = connection;
  const limited = <T>(call: () => Promise<T>) => connection.withDeadline(Date.now() + CALL_MS, call);
  const { serverVersion } = await limited(() => workflowService.getSystemInfo({}));
  const { config } = await limited(() => workflowService.describeNamespace({ namespace }));
  const retentionS = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
  return [
    passed('engine', url, serverVersion || null),
    passed('namespace', namespace),
    checkRetention(retentionS, namespace),
    checkClock(await clockOffset(access)),
    ...(await checkWorkers(access, url, own)),
    ...(await checkDecisions(access)),
    passed('engine key', keyId === null ? 'none: the engine can read all data of runs' : `its id is ${keyId}`),
  ];
}

function checkRetention(seconds: number, namespace: string): EngineCheck {
  const kept = `runs are kept for ${Math.round(seconds / 360) / 10}h after their end`;
  if (seconds >= MIN_RETENTION_S) return passed('retention', kept);
  return failed(
    'retention',
    `${kept}: what no command has read by then is lost`,
    `temporal operator namespace update --namespace ${namespace} --retention 72h`,
  );
}

function checkClock(offsetMs: number | null): EngineCheck {
  if (offsetMs === null)
    return failed('clock', 'the engine did not show its time', 'retry: its queues may have been busy');
  const ahead = `the engine is ${Math.abs(offsetMs / 1000).toFixed(1)}s ${offsetMs < 0 ? 'behind' : 'ahead'}`;
  if (Math.abs(offsetMs) <= MAX_CLOCK_OFFSET_MS) return passed('clock', ahead);
  return failed('clock', ahead, 'synchronize the clocks of all machines: an NTP client does it');
}

/** How far the clock of the engine is ahead of this one, in milliseconds; null if the engine did not show it. */
async function clockOffset({ connection, namespace }: EngineAccess<Connection>): Promise<number | null> {
  const { workflowService } = connection;
  // Nothing but the time of the last poll of a queue is by the clock of the engine, so this queue is for that alone.
  const taskQueue = { name: `wf.doctor.${randomUUID()}` };
  const sentAt = Date.now();
  const end = new AbortController();
  const poll = connection
    .withDeadline(sentAt + CLOCK_POLL_MS, () =>
      connection.withAbortSignal(end.signal, () =>
        workflowService.pollActivityTaskQueue({ namespace, taskQueue, identity: 'wf doctor' }),
      ),
    )
    .catch(() => null);
  try {
    while (Date.now() < sentAt + CLOCK_POLL_MS) {
      const { pollers } = await connection.withDeadline(Date.now() + CALL_MS, () =>
        workflowService.describeTaskQueue({ namespace, taskQueue, taskQueueType: 2 }),
      );
      const { lastAccessTime } = pollers?.[0] ?? {};
      if (!lastAccessTime) {
        await pause(CLOCK_PAUSE_MS);
        continue;
      }
      const at = timeOf(lastAccessTime);
      // The poll arrived between the two times.
      const now = Date.now();
      if (at >= sentAt && at <= now) return 0;
      return Math.round(at < sentAt ? at - sentAt : at - now);
    }
    return null;
  } finally {
    end.abort();
    await poll;
  }
}

async function checkWorkers(access: EngineAccess<Connection>, url: string, own: Own): Promise<readonly EngineCheck[]> {
  const workers = [...(await servingWorkers(access))].sort((one, other) => (one.name < other.name ? -1 : 1));
  const names = workers.map(({ name, version }) => (version === own.version ? name : `${name} (wf ${version})`));
  if (workers.length === 0) return [failed('workers', noWorkers(url), `start one: wf worker --engine ${url}`)];
  try {
    refuseForeign(workers, access.keyId);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return [failed('workers', error.message, error.help ?? '')];
  }
  const all = passed('workers', `the queue "${DEFAULT_QUEUE}" is served by ${names.join(', ')}`);
  return [all, ...workers.map((worker) => checkWorker(worker, access.keyId, own))];
}

/** Checks whether a worker can execute the runs of this program, and stores logs where it reads them. */
function checkWorker(worker: WorkerIdentity, key: string | null, { version, logs }: Own): EngineCheck {
  const name = `worker ${worker.name}`;
  const stores = worker.logs === undefined ? 'no log store' : `log store ${worker.logs}`;
  const detail = `serves the queue "${DEFAULT_QUEUE}", ${stores}`;
  const problem = (text: string, help: string): EngineCheck => ({
    ...failed(name, text, help),
    version: worker.version,
  });
  if (worker.key !== key) return problem('it has another key: it cannot read runs of this command', KEY_HELP);
  if (!executes(worker, CORE))
    return problem(`it executes no runs of wf ${version}: it has other decisions`, `install wf ${version} there`);
  if (logs !== null && worker.logs !== logs)
    return problem(`${detail}: this command reads logs from ${logs}`, `start it with --engine-logs ${logs}`);
  return passed(name, detail, worker.version);
}

/** The runs whose decisions fail again and again. */
const STUCK = 'TemporalReportedProblems IN ("category=WorkflowTaskFailed", "category=WorkflowTaskTimedOut")';
const MAX_NAMED = 5;
/** The code of gRPC of a server that does not report them. */
const INVALID_ARGUMENT = 3;

/** Checks that workers can continue all runs; no check if the server does not know. */
async function checkDecisions({ connection, namespace }: EngineAccess<Connection>): Promise<readonly EngineCheck[]> {
  const query = `ExecutionStatus = "Running" AND ${STUCK}`;
  const listed = await connection
    .withDeadline(Date.now() + CALL_MS, () =>
      connection.workflowService.listWorkflowExecutions({ namespace, query, pageSize: MAX_NAMED + 1 }),
    )
    .catch((error: unknown) => {
      if ((error as { readonly code?: unknown }).code === INVALID_ARGUMENT) return null;
      throw error;
    });
  if (listed === null) return [];
  const ids = listed.executions.map(({ execution }) => execution?.workflowId ?? '');
  if (ids.length === 0) return [passed('decisions', 'workers can continue all runs')];
  const names = [...ids.slice(0, MAX_NAMED), ...(ids.length > MAX_NAMED ? ['...'] : [])].join(', ');
  return [failed('decisions', `workers fail to continue ${names}`, 'what the workers print says why')];
}

function noWorkers(url: string): string {
  return `no worker serves the queue "${DEFAULT_QUEUE}" of ${url}`;
}

function passed(name: string, detail: string, version: string | null = null): EngineCheck {
  return { name, ok: true, version, detail, help: null };
}

function failed(name: string, detail: string, help: string): EngineCheck {
  return { name, ok: false, version: null, detail, help };
}
