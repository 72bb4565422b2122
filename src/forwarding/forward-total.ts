import type { ProcessIdentity } from '../core/run/run.ts';
import type { RunNotes } from '../store/store.ts';
import type { ForwardCounts } from './forward-queue.ts';

/** How the forwarding of one run goes, as its process leaves word of it. */
type Report = { readonly process: ProcessIdentity; readonly counts: ForwardCounts; readonly isFinal: boolean };

/** What is added up. */
const summed = ['queued', 'forwarded', 'dropped', 'failed', 'retried', 'queueDepth'] as const;
type Sums = { readonly [key in (typeof summed)[number]]: number };

/** Whoever asks more often gets the same answer. */
const freshMs = 250;

/** How the process of a run leaves word of it. */
export function forwardTeller(notes: RunNotes, runId: string, process: ProcessIdentity) {
  return (counts: ForwardCounts, isFinal: boolean): void =>
    notes.write(runId, JSON.stringify({ process, counts, isFinal } satisfies Report));
}

/**
 * How the forwarding of all runs together goes. What is known of a run is kept when it ends, so that no count ever goes back;
 * what was still waiting in a process that died has failed. `queueCapacity` is what the queues of the runs that are going on
 * hold together; where there are none, what one would hold.
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
    if (known === null || Math.abs(now() - known.at) >= freshMs) known = { at: now(), counts: add() };
    return known.counts;
  };
}

function plus(a: Sums, b: Sums): Sums {
  return Object.fromEntries(summed.map((key) => [key, a[key] + b[key]])) as Sums;
}

/** Nothing waits any more once the process is gone. */
function settled(counts: ForwardCounts): Sums {
  return { ...counts, failed: counts.failed + counts.queueDepth, queueDepth: 0 };
}

/** Null for what another version has written. */
function parse(text: string): Report | null {
  try {
    const report = JSON.parse(text) as Report;
    return summed.every((key) => Number.isFinite(report.counts[key])) ? report : null;
  } catch {
    return null;
  }
}
