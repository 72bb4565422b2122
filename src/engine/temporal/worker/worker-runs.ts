import type { WorkflowExecutionDescription } from '@temporalio/client';
import { EndSignal } from '#processes/end-signal.ts';
import { type connectWorker, packages } from '../connection.ts';
import { firstEvents, jsonPayload, payloadValue, payloadValues } from '../history.ts';
import {
  type AttemptEndReport,
  type AttemptOrder,
  type CarriedRun,
  type ChildReport,
  type CleanUpOrder,
  type EngineRun,
  type EngineWarning,
  type LockNames,
  type LockNamesOrder,
  NAMES,
  type NoticeOrder,
  type PrepareReport,
} from '../protocol.ts';
import type { GuardReports } from './guard.ts';
import { Heartbeat, type HeartbeatParts } from './heartbeat.ts';
import type { LogShipper } from './log-shipper.ts';
import { evaluateLockNames, type NoticeHost, sendNotice } from './send-notice.ts';
import type { WorkerDirectory } from './worker-directory.ts';
import { type WorkerHost, WorkerRun } from './worker-run.ts';

/** What a worker makes attempts of its runs with. `name`: of the worker. */
export type RunTools = {
  readonly name: string;
  readonly host: WorkerHost & NoticeHost;
  readonly directory: Pick<WorkerDirectory, 'directoryOf'>;
  readonly guard: GuardReports;
  readonly shipper: LogShipper | null;
};

type Evaluated = { readonly run: EngineRun; readonly evaluated: PrepareReport['evaluated'] };
type Access = Awaited<ReturnType<typeof connectWorker>>;

/** The runs of which this worker makes attempts, with the activities that its queues bring. */
export class WorkerRuns {
  readonly #access: Access;
  readonly #parts: RunTools;
  readonly #runs = new Map<string, WorkerRun>();
  readonly #reads = new Map<string, Promise<Evaluated>>();
  /** What ends the notices that are sent now. */
  readonly #notices = new Set<AbortController>();
  /** What ends the bonds of runs to this worker. */
  readonly #holds = new Set<EndSignal>();
  #released = () => {};

  constructor(access: Access, parts: RunTools) {
    this.#access = access;
    this.#parts = parts;
  }

  async prepare(): Promise<PrepareReport> {
    const { runId, evaluation } = await this.#current();
    const signal = new EndSignal();
    const { run } = evaluation;
    const heartbeat = await this.#beating(run, {
      onEnd: () => void signal.abort('stop'),
      onLost: () => void signal.abort('stop'),
    });
    try {
      await heartbeat.begin();
      const report = await this.#of(runId, run).prepare(signal);
      this.#reads.set(runId, Promise.resolve({ run, evaluated: report.evaluated }));
      return report;
    } finally {
      heartbeat.close();
    }
  }

  async attempt(order: AttemptOrder): Promise<AttemptEndReport | ChildReport> {
    const { runId, evaluation } = await this.#current();
    let ends: { readonly stop: () => void; readonly kill: () => void } | null = null;
    const workflow = (await packages.activity()).Context.current().client.workflow.getHandle(runId);
    const heartbeat = await this.#beating(evaluation.run, {
      onEnd: () => {
        ends?.stop();
        // Asked again with the next beat.
        workflow.describe().then(
          (run) => isKilled(run) && ends?.kill(),
          () => {},
        );
      },
      onLost: (how) => (how === 'kill' ? ends?.kill() : ends?.stop()),
    });
    try {
      return await this.#of(runId, evaluation.run).attempt(order, evaluation.evaluated, {
        begin: (own) => {
          ends = own;
          return heartbeat.begin();
        },
        isLost: () => heartbeat.isLost,
        progress: (progress) => workflow.signal(NAMES.progress, progress),
      });
    } finally {
      heartbeat.close();
    }
  }

  async lockNames(order: LockNamesOrder): Promise<LockNames> {
    const { run, evaluated } = await this.#known();
    const heartbeat = await this.#beating(run, { onEnd: () => {}, onLost: () => {} });
    try {
      await heartbeat.begin();
      return await evaluateLockNames(order, { run, evaluated, host: this.#parts.host });
    } finally {
      heartbeat.close();
    }
  }

  /** The run of the activity, which is not kept: there may be no clean-up here. */
  async #known(): Promise<Evaluated> {
    const { Context } = await packages.activity();
    const runId = Context.current().info.workflowExecution?.workflowId ?? '';
    return this.#reads.get(runId) ?? this.#read(runId);
  }

  async notice(order: NoticeOrder): Promise<readonly EngineWarning[]> {
    const { Context } = await packages.activity();
    const { client } = Context.current();
    const { run, evaluated } = await this.#known();
    const { host } = this.#parts;
    const end = new AbortController();
    const heartbeat = await this.#beating(run, {
      onEnd: () => end.abort('the run did not wait for it any longer'),
      onLost: () => end.abort('the worker did not reach the engine'),
    });
    this.#notices.add(end);
    try {
      if (!(await heartbeat.begin())) return [];
      const { signal } = end;
      return await sendNotice(order, {
        run,
        evaluated,
        access: this.#access,
        workflows: client.workflow,
        host,
        signal,
      });
    } finally {
      this.#notices.delete(end);
      heartbeat.close();
    }
  }

  /** Lasts until the run needs this worker no more, or the worker stops. */
  async hold(): Promise<void> {
    const { run } = await this.#known();
    const end = new EndSignal();
    const stop = () => void end.abort('stop');
    const heartbeat = await this.#beating(run, { onEnd: stop, onLost: stop });
    this.#holds.add(end);
    try {
      if (await heartbeat.begin()) await new Promise<void>((resolve) => end.onAbort(resolve));
    } finally {
      this.#holds.delete(end);
      this.#released();
      heartbeat.close();
    }
  }

  /** Resolves when no run is bound to this worker any more, or after a time. */
  async drain(limitMs: number): Promise<void> {
    const { clock } = this.#parts.host;
    if (this.#holds.size === 0) return;
    await new Promise<void>((resolve) => {
      const cancel = clock.setTimer(clock.now() + limitMs, resolve);
      this.#released = () => {
        if (this.#holds.size > 0) return;
        cancel();
        resolve();
      };
    });
  }

  async cleanUp(order: CleanUpOrder): Promise<readonly EngineWarning[]> {
    const { Context } = await packages.activity();
    const runId = Context.current().info.workflowExecution?.workflowId ?? '';
    const run = this.#runs.get(runId);
    this.#runs.delete(runId);
    this.#reads.delete(runId);
    return (await run?.cleanUp(order)) ?? [];
  }

  /** Ends all attempts at once, and notices that are not sent yet. */
  kill(): void {
    for (const hold of this.#holds) hold.abort('stop');
    for (const notice of this.#notices) notice.abort('its worker was stopped');
    for (const run of this.#runs.values()) run.kill();
  }

  /** Ends what is left of runs whose clean-up would come too late for this worker. */
  async leave(): Promise<void> {
    if (this.#holds.size > 0) this.kill();
    await Promise.all([...this.#runs.values()].map((run) => run.cleanUp({ spared: [], force: true })));
  }

  #of(runId: string, run: EngineRun): WorkerRun {
    const known = this.#runs.get(runId);
    if (known !== undefined) return known;
    const { name, host, directory, guard, shipper } = this.#parts;
    const own = { worker: name, host, directory: directory.directoryOf(runId), guard, shipper };
    const made = new WorkerRun(run, own);
    this.#runs.set(runId, made);
    return made;
  }

  /** The run of the activity, which is read once, from the first events of its history. */
  async #current(): Promise<{ readonly runId: string; readonly evaluation: Evaluated }> {
    const { Context } = await packages.activity();
    const runId = Context.current().info.workflowExecution?.workflowId ?? '';
    const known = this.#reads.get(runId) ?? this.#read(runId);
    this.#reads.set(runId, known);
    known.catch(() => this.#reads.delete(runId));
    return { runId, evaluation: await known };
  }

  async #read(runId: string): Promise<Evaluated> {
    const codecs = this.#access.dataConverter.payloadCodecs ?? [];
    const events = await firstEvents(this.#access, { workflowId: runId });
    const { input } = events[0]?.workflowExecutionStartedEventAttributes ?? {};
    const [run, carried] = (await payloadValues(input, codecs)) as [EngineRun, CarriedRun | undefined];
    if (carried !== undefined) return { run, evaluated: carried.evaluated };
    const completed = events.find(({ activityTaskCompletedEventAttributes: ended }) => ended);
    const { result } = completed?.activityTaskCompletedEventAttributes ?? {};
    const prepared = (await payloadValue(result, codecs)) as PrepareReport | undefined;
    return { run, evaluated: prepared?.evaluated ?? null };
  }

  /** The heartbeat of the activity of this call. */
  async #beating(run: EngineRun, on: Pick<HeartbeatParts, 'onEnd' | 'onLost'>): Promise<Heartbeat> {
    const { Context } = await packages.activity();
    const context = Context.current();
    const { taskToken } = context.info;
    const { connection, namespace } = this.#access;
    const { name, host } = this.#parts;
    const { lostAfterMs } = run;
    const begunAt = host.clock.elapsed();
    const [codec] = this.#access.dataConverter.payloadCodecs ?? [];
    const details = { payloads: (await codec?.encode([jsonPayload(name)])) ?? [] };
    const send = async (limitMs: number) => {
      const { cancelRequested } = await connection.withDeadline(Date.now() + limitMs, () =>
        connection.workflowService.recordActivityTaskHeartbeat({ namespace, identity: name, taskToken, details }),
      );
      // The library drops the result of an attempt that has sent none of its own heartbeats for longer than `lostAfterMs`.
      if (host.clock.elapsed() - begunAt > lostAfterMs / 2) context.heartbeat(name);
      return cancelRequested === true;
    };
    return new Heartbeat({ clock: host.clock, lostAfterMs, send, ...on });
  }
}

function isKilled({ memo }: Pick<WorkflowExecutionDescription, 'memo'>): boolean {
  return memo?.[NAMES.killed] === true;
}
