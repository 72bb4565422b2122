import { existsSync } from 'node:fs';
import type { StoredEvent } from '../../../core/run/run.ts';
import { openWakeups } from '../listing/wakeups.ts';
import { journalPath } from '../run-directory.ts';
import { JournalFollower } from './journal-follower.ts';

/** The events of the run in a directory, as specified by `RunArchive` in `store.ts`. */
export async function* followEvents(
  directory: string,
  afterSeq: number,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent, void> {
  const wakeups = openWakeups(directory);
  const journal = new JournalFollower(journalPath(directory));
  try {
    let events = journal.read();
    if (events.slice(0, afterSeq).some(isLast)) return;
    events = events.slice(afterSeq);
    for (;;) {
      for (const event of events) {
        yield event;
        if (isLast(event)) return;
      }
      if (signal.aborted || (events.length === 0 && !existsSync(directory))) return;
      await wakeups.next(signal);
      events = journal.read();
    }
  } finally {
    journal.close();
    wakeups.close();
  }
}

/** Later events (a warning, a mark) do not matter to a follower. */
function isLast(event: StoredEvent): boolean {
  return event.type === 'run.finished';
}
