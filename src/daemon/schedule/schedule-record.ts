import type { DurableText } from '#store/store.ts';
import type { Rule } from './rules.ts';

/** The progress of a rule. Times are milliseconds since 1970-01-01 UTC. */
export type RuleProgress = {
  readonly rule: Rule;
  /** Due times up to here are handled. */
  readonly done: number;
  /** When its file disappeared; null: the file exists. */
  readonly goneSince: number | null;
};

/** A due run that must wait. */
export type WaitingRun = {
  readonly file: string;
  readonly kind: 'start' | 'restart';
  readonly moment: number;
};

/** The state that a scheduler takes over from its predecessor, so that no due time is lost or repeated. */
export type ScheduleRecord = { readonly rules: readonly RuleProgress[]; readonly waiting: readonly WaitingRun[] };

const format = 1;

/** Reads the record; null if it is missing or not understood. Throws a `WfError` `storage`. */
export function readRecord(text: DurableText): ScheduleRecord | null {
  const content = text.read();
  if (content === null) return null;
  try {
    const { format: found, rules, waiting } = JSON.parse(content) as Partial<ScheduleRecord> & { format?: number };
    if (found !== format || !Array.isArray(rules) || !Array.isArray(waiting)) return null;
    return { rules: rules.filter(isProgress), waiting: waiting.filter(isWaiting) };
  } catch {
    return null;
  }
}

/** Writes the record and returns when it is on the disk. Throws a `WfError` `storage`. */
export function writeRecord(text: DurableText, { rules, waiting }: ScheduleRecord): void {
  text.write(`${JSON.stringify({ format, rules, waiting })}\n`);
}

function isProgress(value: unknown): value is RuleProgress {
  const { rule, done, goneSince } = Object(value) as Partial<RuleProgress>;
  const { file, kind, expression, timeZone } = Object(rule) as Partial<Rule>;
  return (
    typeof file === 'string' &&
    (kind === 'start' || kind === 'stop' || kind === 'restart') &&
    typeof expression === 'string' &&
    (timeZone === null || typeof timeZone === 'string') &&
    Number.isFinite(done) &&
    (goneSince === null || Number.isFinite(goneSince))
  );
}

function isWaiting(value: unknown): value is WaitingRun {
  const { file, kind, moment } = Object(value) as Partial<WaitingRun>;
  return typeof file === 'string' && (kind === 'start' || kind === 'restart') && Number.isFinite(moment);
}
