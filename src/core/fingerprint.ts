/**
 * The inputs of a step as a list, so that two of them can be compared and the difference can be named. A fingerprint has no
 * values: only hashes.
 */

/** What an entry is about: a file, a key of the step, or a variable that its texts mention. */
export type EntryKind = 'source' | 'command' | 'variable';

/** One input: a path relative to the directory of the step, a key, or the name of a variable; and the hash of its content. */
export type FingerprintEntry = readonly [kind: EntryKind, name: string, hash: string];

/** All inputs of a step, in the order of `sortEntries`. */
export type Fingerprint = readonly FingerprintEntry[];

/**
 * Why a step is not up to date. `output`: no file matches the pattern `name` of `generates`. `missing`: no success of the step is
 * stored (`name` is `success`), or its last attempt did not succeed (`attempt`). `forced`: the run was started with `--force`.
 */
export type StaleReason = {
  readonly kind: EntryKind | 'output' | 'missing' | 'forced';
  readonly name: string;
  /** Of an entry that only one of both has; absent: it has changed. */
  readonly change?: 'added' | 'removed';
};

/** A text that is compared in the order of its code units, so that the order depends on no locale. */
export function sortEntries(entries: readonly FingerprintEntry[]): Fingerprint {
  return entries.toSorted((a, b) => compare(a[0], b[0]) || compare(a[1], b[1]));
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** The entries that differ between two sorted fingerprints: sources first, as people look for those. */
export function differences(before: Fingerprint, now: Fingerprint): readonly StaleReason[] {
  const found: StaleReason[] = [];
  let [i, j] = [0, 0];
  while (i < before.length || j < now.length) {
    const [old, own] = [before[i], now[j]];
    const order = old === undefined ? 1 : own === undefined ? -1 : compare(old[0], own[0]) || compare(old[1], own[1]);
    if (order < 0 && old !== undefined) found.push({ kind: old[0], name: old[1], change: 'removed' });
    else if (order > 0 && own !== undefined) found.push({ kind: own[0], name: own[1], change: 'added' });
    else if (old !== undefined && old[2] !== own?.[2]) found.push({ kind: old[0], name: old[1] });
    if (order <= 0) i += 1;
    if (order >= 0) j += 1;
  }
  return [...found.filter(({ kind }) => kind === 'source'), ...found.filter(({ kind }) => kind !== 'source')];
}

/** Why a step has to run, with these inputs after a success with those; empty if it is up to date. */
export function staleReasons(
  { entries, reasons }: { readonly entries: Fingerprint; readonly reasons: readonly StaleReason[] },
  before: Fingerprint | null,
  { isCurrent, isForced }: { readonly isCurrent: boolean; readonly isForced: boolean },
): readonly StaleReason[] {
  const forced: readonly StaleReason[] = isForced ? [{ kind: 'forced', name: '' }] : [];
  if (before === null) return [...forced, { kind: 'missing', name: 'success' }];
  const found = [...differences(before, entries), ...reasons];
  if (found.length > 0 || isCurrent) return [...forced, ...found];
  return [...forced, { kind: 'missing', name: 'attempt' }];
}

/** The most reasons that an event names. */
export const MAX_REASONS = 10;

/** Whether a step runs although it has run before, as its event and its summary tell it. */
export type StaleReasons = {
  /** At most `MAX_REASONS`. */
  readonly reason: readonly StaleReason[];
  /** The number of reasons that are left out; absent: none. */
  readonly more?: number;
  /** The run whose success it is compared with; absent: none is stored. */
  readonly from?: string;
};

/** The first reasons, and the number of the others; by default as an event has them. */
export function shortened(
  reasons: readonly StaleReason[],
  from: string | undefined,
  most: number = MAX_REASONS,
): StaleReasons {
  const more = reasons.length - most;
  return {
    reason: reasons.slice(0, most),
    ...(more > 0 ? { more } : {}),
    ...(from === undefined ? {} : { from }),
  };
}

/** A reason in words: `src/a.ts changed`. */
export function staleText({ kind, name, change }: StaleReason): string {
  switch (kind) {
    case 'forced':
      return 'forced';
    case 'missing':
      return name === 'attempt' ? 'its last attempt did not succeed' : 'no earlier success';
    case 'output':
      return `no file matches ${name}`;
    case 'source':
    case 'command':
    case 'variable': {
      const what = kind === 'variable' ? `$${name}` : kind === 'command' ? `"${name}"` : name;
      return `${what} ${change === 'added' ? 'is new' : change === 'removed' ? 'is gone' : 'changed'}`;
    }
  }
}

/** The first reason, and the number of the others: `src/a.ts changed, 2 more`. */
export function staleSummary({ reason, more = 0 }: Pick<StaleReasons, 'reason' | 'more'>): string {
  const [first] = reason;
  if (first === undefined) return '';
  const others = reason.length - 1 + more;
  return `${staleText(first)}${others === 0 ? '' : `, ${others} more`}`;
}
