import type { WorkflowHandle } from '@temporalio/client';
import type { PayloadCodec } from '@temporalio/common';
import type { RunEvent } from '#core/run/run.ts';
import type { LogStore } from '#store/logs.ts';
import { keepEnd } from '#system/file-pieces.ts';
import { type EngineAccess, ifGone } from '../connection.ts';
import {
  type Connected,
  firstEvents,
  type HistoryEvent,
  payloadValue,
  payloadValues,
  readHistory,
  timeOf,
} from '../history.ts';
import {
  type AttemptEndReport,
  type CarriedRun,
  type EngineEvents,
  type EngineResult,
  isAttemptReport,
  NAMES,
} from '../protocol.ts';

/** Where a mirror writes. */
export type MirrorParts = {
  readonly access: EngineAccess<Connected>;
  readonly handle: WorkflowHandle;
  readonly logs: LogStore;
  /** Takes events that are new, with the secrets known so far. */
  readonly record: (events: readonly RunEvent[], secrets: readonly string[]) => void;
  /** How many events were recorded. */
  readonly recorded: () => number;
  /** Takes a failure of a worker to decide about the run, which waits then. */
  readonly undecided: (failure: DecisionFailure) => void;
  /** Also the end that the run holds back while warnings may follow it; absent: not before it is closed. */
  readonly asksAll?: true;
};

/** Why a worker could not decide. `isFirst`: no worker has decided before. */
export type DecisionFailure = { readonly message: string; readonly isFirst: boolean };

/** How the workflow of a run ended: with its result, or otherwise, in one line. */
export type MirroredEnd = { readonly problem: string | null };

/** A run that has not ended; `isAnswered`: a worker has sent its events. */
export type MirroredSoFar = { readonly isAnswered: boolean };

/** Waits of a mirror whose server is away. */
const RETRY_MS = 500;
const QUERY_MS = 10_000;
/** Someone waits for what there is now. */
const QUICK_QUERY_MS = 3000;

/** The closing events of a history besides `workflowExecutionCompleted`, in words. */
const ENDS: readonly (readonly [keyof HistoryEvent, string])[] = [
  ['workflowExecutionFailedEventAttributes', 'failed'],
  ['workflowExecutionTimedOutEventAttributes', 'timed out'],
  ['workflowExecutionCanceledEventAttributes', 'was canceled'],
  ['workflowExecutionTerminatedEventAttributes', 'was terminated'],
];

/**
 * Copies a run of the engine to its directory on this machine: the history says that something happened, and has the
 * ends of logs; a query has the events while the run is open, its result when it is closed.
 */
export class Mirror {
  readonly #parts: MirrorParts;
  readonly #codecs: readonly PayloadCodec[];
  /** The execution of the workflow whose history is read, by its id in the engine; null before the first is known. */
  #at: string | null = null;
  #execution = 0;
  /** The number of the last event of that history that was read. */
  #seen = 0;
  /** The decisions of that history that are not recorded yet: when their tasks began, in ms, by the number of that event. */
  readonly #decisions = new Map<number, number>();
  /** When the task began that has no end yet, in ms. */
  #begun = 0;
  /** An answer that is not recorded yet. */
  #held: EngineEvents | null = null;
  #isAsking = false;
  #isDue = false;
  /** An answer that comes later has nothing new. */
  #isOver = false;
  #isDecided = false;

  constructor(parts: MirrorParts) {
    this.#parts = parts;
    this.#codecs = parts.access.dataConverter.payloadCodecs ?? [];
  }

  /**
   * Resolves when all is copied; null if the signal was aborted before. A server that is away is waited for. Rejects with a
   * `WfError` for a wrong key.
   */
  async follow(signal: AbortSignal): Promise<MirroredEnd | null> {
    while (!signal.aborted) {
      const end = await this.#read(signal).catch((error: unknown) => (signal.aborted ? null : ifUnavailable(error)));
      if (end !== null) return end;
      if (!signal.aborted) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
    return null;
  }

  /** Copies what there is now. Rejects as `follow` does, and with the errors of a server that is away. */
  async catchUp(): Promise<MirroredEnd | MirroredSoFar> {
    for (;;) {
      const end = await this.#read(null);
      if (end !== null) return end;
      const isAnswered = await this.#askOnce(QUICK_QUERY_MS);
      // The answer may follow from reports that were not read yet.
      if (this.#held === null) return { isAnswered };
    }
  }

  /** Reads the histories of a run, with a signal also what comes; null if the run has not ended. */
  async #read(until: AbortSignal | null): Promise<MirroredEnd | null> {
    for (;;) {
      const at = this.#at ?? (await this.#first());
      const end = await this.#readExecution(at, until);
      if (end !== null || at === this.#at) return end;
    }
  }

  /** The first execution of the run; if the server has removed it, the last one, which has all events but not all logs. */
  async #first(): Promise<string> {
    const { access, handle } = this.#parts;
    const [started] = await firstEvents(access, { workflowId: handle.workflowId });
    const { firstExecutionRunId: first, originalExecutionRunId: last } =
      started?.workflowExecutionStartedEventAttributes ?? {};
    const isThere = async (runId: string) =>
      (await firstEvents(access, { workflowId: handle.workflowId, runId }).catch(ifGone([]))).length > 0;
    this.#at = (first && (first === last || (await isThere(first))) ? first : last) ?? '';
    return this.#at;
  }

  async #readExecution(at: string, until: AbortSignal | null): Promise<MirroredEnd | null> {
    const { access, handle } = this.#parts;
    const execution = { workflowId: handle.workflowId, runId: at };
    for await (const page of readHistory(access, execution, { after: this.#seen, until })) {
      for (const event of page) {
        this.#look(event);
        await this.#begin(event);
        await this.#keepLogs(event);
        this.#seen = Number(event.eventId);
        const end = await this.#endOf(event);
        if (end !== null) return end;
        const { newExecutionRunId } = event.workflowExecutionContinuedAsNewEventAttributes ?? {};
        if (newExecutionRunId) {
          [this.#at, this.#seen] = [newExecutionRunId, 0];
          this.#decisions.clear();
          return null;
        }
      }
      this.#release();
      if (until !== null) void this.#ask();
    }
    return null;
  }

  /** Records the events that an execution begins with: their reports are in the history before. */
  async #begin({ workflowExecutionStartedEventAttributes: started }: HistoryEvent): Promise<void> {
    if (!started?.continuedExecutionRunId) return;
    const [, carried] = (await payloadValues(started.input, this.#codecs)) as [unknown, CarriedRun];
    this.#execution = carried.execution;
    this.#record(carried);
  }

  /** Records what is new of events after a number. */
  #record({ events, after, secrets }: EngineResult): void {
    const { record, recorded } = this.#parts;
    if (recorded() >= after) record(events.slice(recorded() - after), secrets);
  }

  /** Asks for new events, one question at a time: without a worker it has no answer. */
  async #ask(): Promise<void> {
    this.#isDue = true;
    if (this.#isAsking) return;
    this.#isAsking = true;
    while (this.#isDue) {
      this.#isDue = false;
      await this.#askOnce(QUERY_MS);
    }
    this.#isAsking = false;
  }

  async #askOnce(limitMs: number): Promise<boolean> {
    const { access, handle, recorded, asksAll = false } = this.#parts;
    const after = recorded();
    const query = () => handle.query<EngineEvents, [number, boolean]>(NAMES.events, after, asksAll);
    const ask = () => access.connection.withDeadline(Date.now() + limitMs, query);
    // A worker refuses if it was given events before their task; that comes with the next question.
    const answer = await ask().catch((error: unknown) => (isRefusal(error) ? ask().catch(() => null) : null));
    if (answer !== null) this.#held = answer;
    this.#release();
    return answer !== null;
  }

  /**
   * Records events once their decision was read: so the logs come first, and an answer about a decision that the engine has
   * not stored, since its worker or the server died, is dropped. Another worker decides again, at another time.
   */
  #release(): void {
    if (this.#held === null || this.#isOver) return;
    const { execution, known, decidedAt } = this.#held;
    if (execution > this.#execution || (execution === this.#execution && known >= this.#seen)) return;
    if (execution < this.#execution || this.#decisions.get(known) === decidedAt) this.#record(this.#held);
    this.#held = null;
    if (execution < this.#execution) return;
    for (const number of this.#decisions.keys()) if (number < known) this.#decisions.delete(number);
  }

  async #endOf(event: HistoryEvent): Promise<MirroredEnd | null> {
    const end = await this.#closing(event);
    this.#isOver = end !== null;
    return end;
  }

  async #closing(event: HistoryEvent): Promise<MirroredEnd | null> {
    const completed = event.workflowExecutionCompletedEventAttributes;
    if (completed) {
      const result = (await payloadValue(completed.result, this.#codecs)) as EngineResult;
      if (this.#parts.recorded() < result.after) return { problem: 'the engine no longer has its first events' };
      this.#record(result);
      return { problem: null };
    }
    const end = ENDS.find(([attributes]) => event[attributes]);
    if (end === undefined) return null;
    const { failure } = event.workflowExecutionFailedEventAttributes ?? {};
    return { problem: `its workflow in the engine ${end[1]}${failure?.message ? `: ${failure.message}` : ''}` };
  }

  #look(event: HistoryEvent): void {
    const {
      workflowTaskStartedEventAttributes: begun,
      workflowTaskCompletedEventAttributes: decided,
      workflowTaskFailedEventAttributes: undecided,
    } = event;
    if (begun) this.#begun = timeOf(event.eventTime);
    if (decided) {
      this.#isDecided = true;
      this.#decisions.set(Number(decided.startedEventId), this.#begun);
    }
    const message = undecided?.failure?.message;
    if (message) this.#parts.undecided({ message, isFirst: !this.#isDecided });
  }

  async #keepLogs(event: HistoryEvent): Promise<void> {
    const result = event.activityTaskCompletedEventAttributes?.result;
    const report = result ? await payloadValue(result, this.#codecs) : null;
    if (isAttemptReport(report) && report.logs.length > 0) keepLogs(this.#parts.logs, report);
  }
}

/** Writes the ends of the logs of an attempt, unless a log store has written more; the times of their lines are unknown. */
function keepLogs(logs: LogStore, { step, attempt, logs: ends, store }: AttemptEndReport): void {
  for (const { stream, size, end } of ends) {
    const bytes = Buffer.from(end, 'base64');
    const path = logs.file(step, attempt, stream).path ?? '';
    const gap = `[wf: the first ${size - bytes.length} bytes are not here yet: the log store is ${store}]\n`;
    keepEnd(path, { size, bytes }, store === undefined ? null : gap);
  }
}

/** The code of gRPC for a query that a worker refuses. */
const REFUSED = 3;

function isRefusal(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === REFUSED;
}

/** Codes of gRPC for a server that may come back. */
const UNAVAILABLE = new Set([1, 4, 8, 14]);

/** Whether the engine may answer later. The library gives some errors of a call as the cause of its own. */
export function isAway(error: unknown): boolean {
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown };
  return UNAVAILABLE.has(Number(code)) || (cause instanceof Error && isAway(cause));
}

function ifUnavailable(error: unknown): null {
  if (isAway(error)) return null;
  throw error;
}
