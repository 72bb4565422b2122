import type { ProcessIdentity } from '#core/run/run.ts';
import type { RunNotes } from '#store/store.ts';
import { tryOr } from '#system/errors.ts';
import type { ForwardCounts } from './forward-queue.ts';

/** The forwarding state of one run, as reported by its process. */
type Report = { readonly process: ProcessIdentity; readonly counts: ForwardCounts; readonly isFinal: boolean };

/** Fields that are summed over runs. */
const summed = ['queued', 'forwarded', 'dropped', 'failed', 'retried', 'queueDepth'] as const;
type Sums = { readonly [key in (typeof summed)[number]]: number };

/** Repeated queries within this time get the same answer, in milliseconds. */
const FRESH_MS = 250;

/** Reports the state of forwarding from the process of a run. */
export function forwardPublisher(notes: RunNotes, runId: string, process: ProcessIdentity) {
  return (counts: ForwardCounts, isFinal: boolean): void =>
    notes.write(runId, JSON.stringify({ process, counts, isFinal } satisfies Report));
}

/**
 * Sums the forwarding of all runs. Counts of finished runs are kept so that no total ever decreases; records still
 * queued in a process that died count as failed. `queueCapacity` is the total capacity of the running runs' queues, or
 * that of one queue if none is running.
 */
export function createForwardTotal(
  notes: RunNotes,
  isAlive: (process: ProcessIdentity, runId: string) => boolean,
  { queueSize, now }: { readonly queueSize: number; readonly now: () => number },
): () => ForwardCounts {
  let past: Sums = { queued: 0, forwarded: 0, dropped: 0, failed: 0, retried: 0, queueDepth: 0 };
  let known: { readonly at: number; readonly counts: ForwardCounts } | null = null;
  const add = (): ForwardCounts => {
    let present = past;
    let capacity = 0;
    for (const { runId, text } of notes.all()) {
      const report = parse(text);
      if (report !== null && !report.isFinal && isAlive(report.process, runId)) {
        present = plus(present, report.counts);
        capacity += report.counts.queueCapacity;
        continue;
      }
      if (report !== null) {
        past = plus(past, settled(report.counts));
        present = plus(present, settled(report.counts));
      }
      notes.remove(runId);
    }
    return { ...present, queueCapacity: Math.max(capacity, queueSize), closed: false };
  };
  return () => {
    if (known === null || Math.abs(now() - known.at) >= FRESH_MS) known = { at: now(), counts: add() };
    return known.counts;
  };
}

function plus(a: Sums, b: Sums): Sums {
  return Object.fromEntries(summed.map((key) => [key, a[key] + b[key]])) as Sums;
}

/** The final counts of a process that is gone: nothing is queued any more. */
function settled(counts: ForwardCounts): Sums {
  return { ...counts, failed: counts.failed + counts.queueDepth, queueDepth: 0 };
}

/** Returns null for a file written by an incompatible version. */
function parse(text: string): Report | null {
  return tryOr(null, () => {
    const report = JSON.parse(text) as Report;
    return summed.every((key) => Number.isFinite(report.counts[key])) ? report : null;
  });
}
