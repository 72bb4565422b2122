import { expect, test } from 'vitest';
import { createForwardTotal, forwardPublisher } from '#forwarding/forward-total.ts';
import type { RunNotes } from '#store/store.ts';

const process = (pid: number) => ({ pid, startTime: pid, boot: 'boot' });
const none = { queued: 0, forwarded: 0, dropped: 0, failed: 0, retried: 0, queueDepth: 0, queueCapacity: 8 };

/** A total over notes in memory, without caching. */
function world() {
  const texts = new Map<string, string>();
  const notes: RunNotes = {
    write: (runId, text) => void texts.set(runId, text),
    all: () => [...texts].map(([runId, text]) => ({ runId, text })),
    remove: (runId) => void texts.delete(runId),
  };
  const dead = new Set<number>();
  let time = 0;
  const now = () => {
    time += 1000;
    return time;
  };
  const total = createForwardTotal(notes, ({ pid }) => !dead.has(pid), { queueSize: 8, now });
  const tell = (runId: string, pid: number, counts: Partial<typeof none>, isFinal = false) =>
    forwardPublisher(notes, runId, process(pid))({ ...none, ...counts, closed: isFinal }, isFinal);
  return { total, tell, dead, texts };
}

test('without runs, the capacity is that of one run', () => {
  expect(world().total()).toEqual({ ...none, closed: false });
});

test('the counts of running runs are added up', () => {
  const { total, tell } = world();
  tell('a', 1, { queued: 5, forwarded: 3, failed: 1, queueDepth: 1, retried: 2 });
  tell('b', 2, { queued: 7, forwarded: 7, dropped: 4 });
  expect(total()).toEqual({
    queued: 12,
    forwarded: 10,
    failed: 1,
    queueDepth: 1,
    retried: 2,
    dropped: 4,
    queueCapacity: 16,
    closed: false,
  });
});

test('a finished run still counts, and its note is removed', () => {
  const { total, tell, texts } = world();
  tell('a', 1, { queued: 5, forwarded: 4, queueDepth: 1 });
  total();
  tell('a', 1, { queued: 6, forwarded: 6 }, true);
  expect(total()).toMatchObject({ queued: 6, forwarded: 6, queueDepth: 0, queueCapacity: 8 });
  expect(texts.size).toBe(0);
  expect(total()).toMatchObject({ queued: 6, forwarded: 6 });
});

test('waiting records of a dead process count as failed', () => {
  const { total, tell, dead } = world();
  tell('a', 1, { queued: 9, forwarded: 4, failed: 1, queueDepth: 4 });
  dead.add(1);
  const counts = total();
  expect(counts).toMatchObject({ queued: 9, forwarded: 4, failed: 5, queueDepth: 0 });
  expect(counts.queued).toBe(counts.forwarded + counts.failed + counts.queueDepth);
});

test('an invalid note is removed and does not count', () => {
  const { total, texts } = world();
  texts.set('a', 'torn');
  texts.set('b', '{"counts":{}}');
  expect(total()).toEqual({ ...none, closed: false });
  expect(texts.size).toBe(0);
});
