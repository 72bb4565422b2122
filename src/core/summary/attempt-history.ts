import { given } from '../data/collections.ts';
import type { Ended, Outcome, StoredEvent } from '../run/run.ts';

/** One attempt at a step or handler, as recorded in the events. Times are milliseconds since 1970-01-01 UTC. */
export type AttemptRecord = {
  readonly step: string;
  readonly attempt: number;
  readonly scheduledAt: number;
  /** Null if it has not started, or never did. */
  readonly startedAt: number | null;
  /** Of a service: when it was ready; absent before that. */
  readonly readyAt?: number;
  /** The worker of an engine that makes it; absent without an engine. */
  readonly worker?: string;
  readonly endedAt: number | null;
  /** Null until the attempt has ended. `message` is one line of text, empty if there is nothing to add. */
  readonly end: AttemptEnd | null;
  /** The reason of the wait after the attempt; null if the step did not wait. */
  readonly next: { readonly why: 'retry' | 'repeat'; readonly until: number } | null;
};

/** How an attempt ended. */
export type AttemptEnd = Omit<Ended, 'reason'> & { readonly status: Outcome['status'] };

/** The attempts of each step, in order. */
export function attemptHistory(events: readonly StoredEvent[]): Map<string, AttemptRecord[]> {
  const history = new Map<string, AttemptRecord[]>();
  for (const event of events) addToAttempts(history, event);
  return history;
}

/** Adds one more event to a history, in place: a repeating step can have a hundred thousand records. */
export function addToAttempts(history: Map<string, AttemptRecord[]>, event: StoredEvent): void {
  if (event.type === 'run.warned') {
    if (event.clockSetMs !== undefined) moveUnfinished(history, event.clockSetMs);
  } else if (event.type === 'step.scheduled') {
    const records = history.get(event.step) ?? [];
    const { step, attempt, at } = event;
    records.push({ step, attempt, scheduledAt: at, startedAt: null, endedAt: null, end: null, next: null });
    history.set(event.step, records);
  } else if (
    event.type === 'step.started' ||
    event.type === 'step.serving' ||
    event.type === 'step.waiting' ||
    event.type === 'step.held' ||
    event.type === 'step.finished'
  ) {
    const records = history.get(event.step) ?? [];
    const last = records.findLastIndex(({ attempt }) => attempt === event.attempt);
    const record = records[last];
    if (record !== undefined) records[last] = advanced(record, event);
  }
}

/** Shifts the times of unfinished attempts by the change of the clock. */
function moveUnfinished(history: Map<string, AttemptRecord[]>, ms: number): void {
  for (const records of history.values()) {
    for (const [index, record] of records.entries()) {
      const { scheduledAt, startedAt, readyAt, endedAt } = record;
      if (endedAt !== null) continue;
      const ready = readyAt === undefined ? {} : { readyAt: readyAt + ms };
      const moved = { scheduledAt: scheduledAt + ms, startedAt: startedAt === null ? null : startedAt + ms, ...ready };
      records[index] = { ...record, ...moved };
    }
  }
}

type Advance = Extract<
  StoredEvent,
  { type: 'step.started' | 'step.serving' | 'step.waiting' | 'step.held' | 'step.finished' }
>;

function advanced(record: AttemptRecord, event: Advance): AttemptRecord {
  switch (event.type) {
    case 'step.started':
      return { ...record, startedAt: event.at, ...given({ worker: event.worker }) };
    case 'step.serving':
      return { ...record, readyAt: event.at };
    case 'step.waiting':
      return { ...record, endedAt: event.at, end: endOf(event.outcome), next: { why: event.why, until: event.until } };
    case 'step.held':
      return { ...record, endedAt: event.at, end: endOf({ ...event, status: event.reason ? 'failed' : 'succeeded' }) };
    case 'step.finished':
      // A step that is stopped while it waits ends long after its last attempt.
      if (record.endedAt !== null || event.status === 'upstream_failed') return record;
      return { ...record, endedAt: event.at, end: endOf({ ...event, status: event.status }) };
  }
}

function endOf({
  status,
  message = '',
  exitCode = null,
  signal = null,
}: Pick<AttemptEnd, 'status'> & Partial<AttemptEnd>): AttemptEnd {
  return { status, message, exitCode, signal };
}
