import { freemem, totalmem } from 'node:os';
import type { DaemonState, DurableText, RunNotes, SessionStore, StoredRunIds, Suspensions } from '#store/store.ts';
import { WfError } from '#system/errors.ts';

/** The state of a daemon that is lost with this process: a second daemon is one that has the same object. */
export function createMemoryDaemonState(): DaemonState {
  const starts = new Set<string>();
  const token = { path: 'memory', token: crypto.randomUUID() };
  let daemon: { url: string | null } | null = null;
  let hasToken = false;
  return {
    claim: async () => {
      if (daemon !== null) throw new WfError('conflict', 'a daemon is already running for these runs');
      const claimed: { url: string | null } = { url: null };
      daemon = claimed;
      return {
        tell: (url) => {
          claimed.url = url;
        },
        loss: () => null,
        release: () => {
          daemon = null;
        },
      };
    },
    claimStart: async (workflow) => {
      if (starts.has(workflow)) return null;
      starts.add(workflow);
      return () => void starts.delete(workflow);
    },
    findOwn: (address) => (hasToken && daemon?.url === address ? { url: address, token: token.token } : null),
    keepToken: () => {
      hasToken = true;
      return token;
    },
    sessions: memorySessions(),
    suspensions: memorySuspensions(),
    schedule: memoryText(),
    watched: memoryRunIds(),
    retries: memoryRunIds(),
    engine: memoryText(),
    backfills: memoryText(),
    forwarding: memoryNotes(),
    space: async () => ({ path: 'memory', totalBytes: totalmem(), freeBytes: freemem() }),
    refusal: () => null,
  };
}

function memoryText(): DurableText {
  let text: string | null = null;
  return {
    path: 'memory',
    read: () => text,
    write: (written) => {
      text = written;
    },
  };
}

function memoryRunIds(): StoredRunIds {
  let runIds: readonly string[] = [];
  const write = (written: readonly string[]) => {
    runIds = [...written];
  };
  return { read: () => runIds, write, writeInBackground: async (written) => write(written) };
}

function memorySessions(): SessionStore {
  let sessions: ReturnType<SessionStore['read']> = [];
  const write: SessionStore['write'] = (written) => {
    sessions = [...written];
  };
  return { read: () => sessions, write, remove: () => write([]) };
}

function memoryNotes(): RunNotes {
  const notes = new Map<string, string>();
  return {
    write: (runId, text) => void notes.set(runId, text),
    all: () => [...notes].map(([runId, text]) => ({ runId, text })),
    remove: (runId) => void notes.delete(runId),
  };
}

function memorySuspensions(): Suspensions {
  const ends = new Map<string, number>();
  let changes = 0;
  const isOver = (end: number) => end <= Date.now();
  const set = (file: string, until: number | null) => {
    changes += 1;
    if (until === null) ends.delete(file);
    else ends.set(file, until);
  };
  return {
    endOf: (file) => ends.get(file) ?? null,
    suspendedUntil: (file) => {
      const end = ends.get(file);
      return end === undefined || isOver(end) ? null : end;
    },
    set,
    move: (from, to) => {
      const end = ends.get(from);
      if (end === undefined) return;
      set(to, end);
      set(from, null);
    },
    stamp: () => `${changes} ${[...ends.values()].filter(isOver).length}`,
  };
}
