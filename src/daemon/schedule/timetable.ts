import type { Schedule, Workflow } from '#core/workflow.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import type { DurableText } from '#store/store.ts';
import { createSlices, ownTurn } from '#system/turns.ts';
import type { CronTimes } from './cron-times.ts';
import { type Rule, ruleKey, rulesOf, type ScheduleKind } from './next-start.ts';

/** The due times of one workflow. */
export type DueFile = { readonly workflow: Workflow; readonly due: DueMoments };

type State = { rule: Rule; done: number; next: number | null; goneSince: number | null };

/** The maximum number of past due times; earlier ones are neither caught up nor counted (a week has 10,080 minutes). */
const MOST_MOMENTS = 1000;
/** The time for which the progress of a removed file is kept: it may have been moved, or its disk unmounted. */
const REMEMBERED_MS = 86_400_000;
/** A clock that was set back further than this was wrong before: due times are not delayed until it catches up. */
const FURTHEST_AHEAD_MS = 3_600_000;

/** Every rule of every workflow with its progress. It has no clock and no effects: callers pass the time. */
export class Timetable {
  readonly #times: CronTimes;
  readonly #states = new Map<string, State>();
  readonly #workflows = new Map<string, Workflow>();
  readonly #broken = new Set<string>();

  constructor(times: CronTimes, earlier: readonly RuleProgress[]) {
    this.#times = times;
    for (const { rule, done, goneSince } of earlier) {
      this.#states.set(ruleKey(rule), { rule, done, next: times.next(rule, done), goneSince });
    }
  }

  /** Updates the rules from the files. A new rule begins now, without earlier due times. */
  follow(listing: readonly ListedWorkflow[], now: number): void {
    this.#workflows.clear();
    this.#broken.clear();
    const wanted = new Set<string>();
    for (const listed of listing) {
      if (listed.workflow === null) this.#broken.add(listed.file);
      else this.#workflows.set(listed.file, listed.workflow);
      for (const rule of rulesOf(listed)) {
        const key = ruleKey(rule);
        wanted.add(key);
        this.#addRule(key, rule, now);
      }
    }
    for (const [key, state] of this.#states) {
      const isThere = wanted.has(key) || this.#broken.has(state.rule.file);
      state.goneSince = isThere ? null : Math.min(state.goneSince ?? now, now);
      // A rule that was removed from its file is dropped; a removed file may return.
      const isOver = this.#workflows.has(state.rule.file) || now - (state.goneSince ?? now) > REMEMBERED_MS;
      if (!isThere && isOver) this.#states.delete(key);
    }
  }

  /** Returns the unhandled due times by file; none for an invalid or removed file. */
  due(now: number): ReadonlyMap<string, DueFile> {
    const found = new Map<string, { workflow: Workflow; due: Record<Rule['kind'], readonly number[]> }>();
    for (const state of this.#states.values()) {
      if (state.done > now + FURTHEST_AHEAD_MS) this.#move(state, now);
      const { file, kind } = state.rule;
      const workflow = this.#workflows.get(file);
      if (workflow === undefined || state.next === null || state.next > now) continue;
      const entry = found.get(file) ?? { workflow, due: { start: [], stop: [], restart: [] } };
      entry.due[kind] = [...entry.due[kind], ...momentsOf(state, this.#times, now)];
      found.set(file, entry);
    }
    return found;
  }

  /** Marks the due times of these files up to `now` as handled. */
  settle(files: ReadonlySet<string>, now: number): void {
    for (const state of this.#states.values()) {
      // The progress of a rule that is not due is kept, so that the record does not change every minute.
      if (files.has(state.rule.file) && state.next !== null && state.next <= now) this.#move(state, now);
    }
  }

  /** Returns the workflow of a file; null if the file is invalid or removed. */
  workflowOf(file: string): Workflow | null {
    return this.#workflows.get(file) ?? null;
  }

  /** Returns the earliest future or unhandled due time, or infinity. */
  nextMoment(): number {
    return this.#active().reduce((least, { next }) => Math.min(least, next ?? least), Number.POSITIVE_INFINITY);
  }

  /** Returns the next due times, unordered. */
  upcoming(): readonly { readonly rule: Rule; readonly at: number }[] {
    return this.#active().flatMap(({ rule, next }) => (next === null ? [] : [{ rule, at: next }]));
  }

  /** The rules of all files that can be read. */
  rules(): readonly Rule[] {
    return this.#active().map(({ rule }) => rule);
  }

  /** The files that cannot be read but have rules. */
  broken(): ReadonlySet<string> {
    const files = [...this.#states.values()].map(({ rule }) => rule.file);
    return new Set(files.filter((file) => this.#broken.has(file)));
  }

  progress(): readonly RuleProgress[] {
    return [...this.#states.values()].map(({ rule, done, goneSince }) => ({ rule, done, goneSince }));
  }

  #active(): readonly State[] {
    return [...this.#states.values()].filter(({ rule }) => this.#workflows.has(rule.file));
  }

  #addRule(key: string, rule: Rule, now: number): void {
    const known = this.#states.get(key);
    if (known === undefined) {
      this.#states.set(key, { rule, done: now, next: this.#times.next(rule, now), goneSince: null });
    } else if (String(known.rule.notOn) !== String(rule.notOn)) {
      // Other days without due times leave a rule what it is.
      known.rule = rule;
      this.#move(known, known.done);
    }
  }

  #move(state: State, done: number): void {
    state.done = done;
    state.next = this.#times.next(state.rule, done);
  }
}

/** Returns the due times of a rule. Searches two first, since usually there is one. */
function momentsOf({ rule, done }: State, times: CronTimes, now: number): readonly number[] {
  const since = (count: number) => times.last(rule, now, count).filter((moment) => moment > done);
  const few = since(2);
  return few.length < 2 ? few : since(MOST_MOMENTS);
}

/** A due time; `file` is the absolute path of the workflow. */
export type UpcomingMoment = { readonly file: string; readonly kind: ScheduleKind; readonly at: Date };

type Window = { readonly from: number; readonly to: number; readonly limit: number };

/** The due times of rules in a window, in the order of time, at most `limit`. Other work gets a turn meanwhile. */
export async function momentsBetween(
  rules: readonly Rule[],
  times: CronTimes,
  { from, to, limit }: Window,
): Promise<readonly UpcomingMoment[]> {
  await ownTurn();
  const pause = createSlices();
  const next: { readonly rule: Rule; at: number | null }[] = [];
  for (const rule of rules) {
    await pause();
    next.push({ rule, at: times.next(rule, from - 1) });
  }
  const found: UpcomingMoment[] = [];
  while (found.length < limit) {
    await pause();
    const first = next.reduce<(typeof next)[number] | null>(
      (least, each) => (each.at !== null && (least?.at == null || each.at < least.at) ? each : least),
      null,
    );
    if (first?.at == null || first.at > to) return found;
    found.push({ file: first.rule.file, kind: first.rule.kind, at: new Date(first.at) });
    first.at = times.next(first.rule, first.at);
  }
  return found;
}

type DueMoments = { readonly [kind in ScheduleKind]: readonly number[] };

/** An action for a workflow. `isLate`: it is caught up after its due time, or follows starts that are. */
export type Action = { readonly kind: ScheduleKind; readonly moment: number; readonly isLate: boolean };

/** The actions, in order, and the missed due times. */
export type DueActions = { readonly actions: readonly Action[]; readonly missed: readonly Omit<Action, 'isLate'>[] };

/** The delay that still counts as on time, for a busy machine or a restart of the daemon. */
const ON_TIME_MS = 60_000;
const MOST_CAUGHT_UP = 100;

const order: readonly ScheduleKind[] = ['stop', 'restart', 'start'];

/**
 * Decides about all due times of one workflow. `catchup` limits late starts; a late stop or restart is done once. A
 * start before a later stop is dropped.
 */
export function decide(
  due: DueMoments,
  policy: Pick<Schedule, 'catchup' | 'catchupWindowMs'>,
  now: number,
): DueActions {
  const lastStop = due.stop.at(-1) ?? Number.NEGATIVE_INFINITY;
  const decided = order.map((kind) => {
    const moments = [...new Set(due[kind])].sort((a, b) => a - b);
    const onTime = moments.filter((moment) => moment > now - ON_TIME_MS);
    const late = moments.slice(0, moments.length - onTime.length);
    const possible = late.filter((moment) => isPossible(moment, policy, now) && (kind === 'stop' || moment > lastStop));
    const count = kind === 'start' && policy.catchup === 'all' ? MOST_CAUGHT_UP : onTime.length > 0 ? 0 : 1;
    const caughtUp = new Set(count === 0 ? [] : possible.slice(-count));
    return {
      actions: [
        ...[...caughtUp].map((moment) => ({ kind, moment, isLate: true })),
        // Otherwise the caught-up runs before it, which are still active, would make `overlap: skip` drop it.
        ...onTime.map((moment) => ({ kind, moment, isLate: caughtUp.size > 0 })),
      ],
      missed: late.filter((moment) => !caughtUp.has(moment)).map((moment) => ({ kind, moment })),
    };
  });
  const actions = decided.flatMap((one) => one.actions);
  return {
    actions: actions.sort((a, b) => a.moment - b.moment || order.indexOf(a.kind) - order.indexOf(b.kind)),
    missed: decided.flatMap(({ missed }) => missed),
  };
}

function isPossible(
  moment: number,
  { catchup, catchupWindowMs }: Pick<Schedule, 'catchup' | 'catchupWindowMs'>,
  now: number,
): boolean {
  return catchup !== 'none' && (catchupWindowMs === null || moment >= now - catchupWindowMs);
}

/** The progress of a rule. Times are milliseconds since 1970-01-01 UTC. */
type RuleProgress = {
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

const FORMAT = 1;

/** Reads the record; null if it is missing or not understood. Throws a `WfError` `storage`. */
export function readRecord(text: DurableText): ScheduleRecord | null {
  const content = text.read();
  if (content === null) return null;
  try {
    const { format: found, rules, waiting } = JSON.parse(content) as Partial<ScheduleRecord> & { format?: number };
    if (found !== FORMAT || !Array.isArray(rules) || !Array.isArray(waiting)) return null;
    return { rules: rules.filter(isProgress), waiting: waiting.filter(isWaiting) };
  } catch {
    return null;
  }
}

/** Writes the record and returns when it is on the disk. Throws a `WfError` `storage`. */
export function writeRecord(text: DurableText, { rules, waiting }: ScheduleRecord): void {
  text.write(`${JSON.stringify({ format: FORMAT, rules, waiting })}\n`);
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
