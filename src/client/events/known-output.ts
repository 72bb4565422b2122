import { endsAttempt } from '#core/run/outcome.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { FeedItem } from '#service/service.ts';
import { readRemoteOutput } from './read-output.ts';

/** The number of known bytes of a running attempt's logs; `stdout` is also that of the only one. */
export type KnownOutput = {
  readonly step: string;
  readonly attempt: number;
  readonly stdout: number;
  readonly stderr: number;
};

/** The received output of a run. */
export type OutputLedger = {
  /** Returns the new part of a chunk; null if all of it was received before. */
  readonly take: (data: string) => FeedItem | null;
  /** Notes the begin and end of attempts. */
  readonly note: (event: StoredEvent) => void;
  /** Returns the query that requests the missing output. */
  readonly query: (step: string | null) => URLSearchParams;
};

/** Limits the request line. Output of positions beyond the limit is sent again and skipped. */
const mostToldBytes = 4096;

type Counted = { readonly step: string; readonly attempt: number; stdout: number; stderr: number };

/** Creates a ledger that counts bytes, so that output repeated after a reconnect is recognized. */
export function createKnownOutput(known: readonly KnownOutput[]): OutputLedger {
  const underWay = new Map<string, Counted>(known.map((each) => [each.step, { ...each }]));
  return {
    take: (data) => {
      const chunk = readRemoteOutput(data);
      const counted = chunk === null ? undefined : underWay.get(chunk.step);
      if (chunk === null || counted === undefined || counted.attempt !== chunk.attempt) return null;
      const log = chunk.stream === 'stderr' ? 'stderr' : 'stdout';
      const fresh = chunk.bytes.subarray(Math.max(0, counted[log] - chunk.offset));
      if (fresh.length === 0) return null;
      const offset = chunk.offset + chunk.bytes.length - fresh.length;
      counted[log] = offset + fresh.length;
      return { kind: 'output', chunk: { ...chunk, offset, bytes: fresh } };
    },
    note: (event) => {
      if (event.type === 'step.started') {
        const { step, attempt } = event;
        // A damaged journal may repeat an event.
        if (underWay.get(step)?.attempt !== attempt) underWay.set(step, { step, attempt, stdout: 0, stderr: 0 });
      } else if (endsAttempt(event)) underWay.delete(event.step);
    },
    query: (step) =>
      new URLSearchParams({ output: 'true', ...(step === null ? {} : { step }), offsets: offsetsOf(underWay) }),
  };
}

/** Lists the known positions, the largest first. */
function offsetsOf(underWay: ReadonlyMap<string, Counted>): string {
  const entries = [...underWay.values()].filter(({ stdout, stderr }) => stdout + stderr > 0);
  entries.sort((a, b) => b.stdout + b.stderr - a.stdout - a.stderr);
  let length = 0;
  const fitting = entries.filter(({ step }) => {
    length += Buffer.byteLength(step) + 50;
    return length <= mostToldBytes;
  });
  return JSON.stringify(fitting.map(({ step, attempt, stdout, stderr }) => [step, attempt, stdout, stderr]));
}
