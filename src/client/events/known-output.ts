import type { StoredEvent } from '../../core/run/run.ts';
import { type FeedItem, readOutput } from './read-output.ts';

/** How much is known of the output of an attempt that is under way, in bytes. */
export type KnownOutput = {
  readonly step: string;
  readonly attempt: number;
  readonly stdout: number;
  readonly stderr: number;
};

/** What has come of a run's output. */
export type OutputLedger = {
  /** What of a chunk has not come before; null for nothing. */
  readonly take: (data: string) => FeedItem | null;
  /** Attempts begin and end by events. */
  readonly note: (event: StoredEvent) => void;
  /** How to ask for what is missing. */
  readonly query: (step: string | null) => URLSearchParams;
};

/** What is left out of a request, which may not be of any length, is sent again and passed over. */
const mostToldBytes = 4096;

type Counted = { readonly step: string; readonly attempt: number; stdout: number; stderr: number };

/** Counts bytes, so that what is sent again after a break is known again. */
export function createKnownOutput(known: readonly KnownOutput[]): OutputLedger {
  const underWay = new Map<string, Counted>(known.map((each) => [each.step, { ...each }]));
  return {
    take: (data) => {
      const chunk = readOutput(data);
      const counted = chunk === null ? undefined : underWay.get(chunk.step);
      if (chunk === null || counted === undefined || counted.attempt !== chunk.attempt) return null;
      const fresh = chunk.bytes.subarray(Math.max(0, counted[chunk.stream] - chunk.offset));
      if (fresh.length === 0) return null;
      const offset = chunk.offset + chunk.bytes.length - fresh.length;
      counted[chunk.stream] = offset + fresh.length;
      return { kind: 'output', chunk: { ...chunk, offset, bytes: fresh } };
    },
    note: (event) => {
      if (event.type === 'step.started') {
        const { step, attempt } = event;
        // Told again where a journal was damaged.
        if (underWay.get(step)?.attempt !== attempt) underWay.set(step, { step, attempt, stdout: 0, stderr: 0 });
      } else if (event.type === 'step.waiting' || event.type === 'step.finished') underWay.delete(event.step);
    },
    query: (step) =>
      new URLSearchParams({ output: 'true', ...(step === null ? {} : { step }), offsets: told(underWay) }),
  };
}

/** The most valuable first. */
function told(underWay: ReadonlyMap<string, Counted>): string {
  const entries = [...underWay.values()].filter(({ stdout, stderr }) => stdout + stderr > 0);
  entries.sort((a, b) => b.stdout + b.stderr - a.stdout - a.stderr);
  let length = 0;
  const fitting = entries.filter(({ step }) => {
    length += Buffer.byteLength(step) + 50;
    return length <= mostToldBytes;
  });
  return JSON.stringify(fitting.map(({ step, attempt, stdout, stderr }) => [step, attempt, stdout, stderr]));
}
