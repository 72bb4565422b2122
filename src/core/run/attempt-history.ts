import type { Outcome, StoredEvent } from './run.ts';

/** One attempt at a step or handler, as the events tell it. Times are milliseconds since 1970-01-01 UTC. */
export type AttemptRecord = {
  readonly step: string;
  readonly attempt: number;
  readonly scheduledAt: number;
  /** Null while it has not started, and for one that never did. */
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  /** Null until it has ended. `message` is one line for a person; empty when there is nothing to say. */
  readonly end: AttemptEnd | null;
  /** What the step waited for afterwards; null when it did not. */
  readonly next: { readonly why: 'retry' | 'repeat'; readonly until: number } | null;
};

/** How an attempt ended. */
export type AttemptEnd = {
  readonly status: Outcome['status'];
  readonly message: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
};

/** All attempts by step, those of a step in their order. */
export function attemptHistory(events: readonly StoredEvent[]): ReadonlyMap<string, readonly AttemptRecord[]> {
  const history = new Map<string, AttemptRecord[]>();
  for (const event of events) {
    if (event.type === 'step.scheduled') {
      const records = history.get(event.step) ?? [];
      records.push(scheduled(event));
      history.set(event.step, records);
    } else if (event.type === 'step.started' || event.type === 'step.waiting' || event.type === 'step.finished') {
      const records = history.get(event.step) ?? [];
      const last = records.findLastIndex(({ attempt }) => attempt === event.attempt);
      const record = records[last];
      if (record !== undefined) records[last] = advanced(record, event);
    }
  }
  return history;
}

type Scheduled = Extract<StoredEvent, { type: 'step.scheduled' }>;
type Advance = Extract<StoredEvent, { type: 'step.started' | 'step.waiting' | 'step.finished' }>;

function scheduled({ step, attempt, at }: Scheduled): AttemptRecord {
  return { step, attempt, scheduledAt: at, startedAt: null, endedAt: null, end: null, next: null };
}

function advanced(record: AttemptRecord, event: Advance): AttemptRecord {
  switch (event.type) {
    case 'step.started':
      return { ...record, startedAt: event.at };
    case 'step.waiting':
      return { ...record, endedAt: event.at, end: endOf(event.outcome), next: { why: event.why, until: event.until } };
    case 'step.finished':
      // A step that is stopped while it waits ends long after its last attempt.
      if (record.endedAt !== null || event.status === 'upstream_failed') return record;
      return { ...record, endedAt: event.at, end: endOf({ ...event, status: event.status }) };
  }
}

type Ending = Pick<AttemptEnd, 'status'> & {
  readonly message?: string;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
};

function endOf({ status, message = '', exitCode = null, signal = null }: Ending): AttemptEnd {
  return { status, message, exitCode, signal };
}
