import type { RunEvent, StoredEvent } from '../core/run/run.ts';
import type { Workflow } from '../core/workflow.ts';
import type { AttemptLog } from '../executors/executor.ts';
import type { Source } from '../language/diagnostic.ts';

/** Everything a run starts from; stored before its first event and never changed. */
export type Snapshot = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** The texts the workflow was read from, so that places in them can be shown later. */
  readonly sources: readonly Source[];
  /** Present: secrets in its texts stand as `***`. It can be shown but not run again; the file itself has to be read. */
  readonly masked?: true;
};

/** Where the output of one attempt is kept. */
export type LogPaths = { readonly stdoutPath: string; readonly stderrPath: string };

/** A run as any process can read it, also while its owner writes. */
export type StoredRun = Snapshot & {
  /** Those before any damage, in order, without a gap. */
  readonly events: readonly StoredEvent[];
  /** What was found wrong with the journal, as sentences for a person; empty when it is whole. */
  readonly damage: readonly string[];
  /** Whether the files exist or not. */
  readonly logPaths: (step: string, attempt: number) => LogPaths;
};

/** The owner's hold on its run: the only way to write it. */
export type RunJournal = {
  readonly runId: string;
  /**
   * Hands the events to the operating system before it returns, so that they survive the process; all of them or, when
   * it throws a `WfError` `storage`, none.
   */
  readonly append: (events: readonly RunEvent[]) => readonly StoredEvent[];
  /**
   * Resolves when everything up to this event's number, else all that was appended so far, is on the disk; rejects with a
   * `WfError` `storage`. Calls share flushes.
   */
  readonly flush: (seq?: number) => Promise<void>;
  /** Opens the files for the output of one attempt; the caller closes the descriptors. Throws a `WfError` `storage`. */
  readonly openLog: (step: string, attempt: number) => AttemptLog;
  /** The paths that `openLog` uses, whether they exist or not. */
  readonly logPaths: (step: string, attempt: number) => LogPaths;
  /** A private path inside the run for files that serve the run only (scripts, large outputs); made on first use. */
  readonly scratch: () => string;
  /**
   * Tells of requests to stop the run, also of one that came before, until `close`. Never rejects: where no socket can be
   * opened, it looks for requests from time to time.
   */
  readonly listen: (listener: (request: StopRequest) => void) => Promise<void>;
  /**
   * Flushes, removes scratch files and gives up the ownership. Resolves to why some of the files are still there; null when all are
   * gone. Rejects with a `WfError` `storage`.
   */
  readonly close: () => Promise<string | null>;
  /** Flushes and gives up the ownership of a run that waits: its scratch files stay. Rejects with a `WfError` `storage`. */
  readonly handBack: () => Promise<void>;
};

/** Somebody asks the owner of a run to end it. */
export type StopRequest = {
  readonly at: number;
  /** Who, for a person to read. */
  readonly by: string;
  /** Kill at once. */
  readonly force: boolean;
};

/** Where runs are kept. */
export type RunStore = {
  /**
   * Makes a new run with the caller as its owner. Throws a `WfError`: `run-exists` when the id is taken (then nothing is
   * changed), `storage` when the disk refuses, `usage` when the id is not 1 to 128 of `A-Z a-z 0-9 . _ -`.
   */
  readonly create: (snapshot: Snapshot, options: { readonly logDir: string | null }) => RunJournal;
  /** Null when there is no such run. Throws a `WfError` `storage` when what it started from cannot be read any more. */
  readonly read: (runId: string) => StoredRun | null;
  /** Ids of all runs, newest first. */
  readonly list: () => readonly string[];
};

/** Where past runs are found again, by any process. */
export type RunArchive = Pick<RunStore, 'read' | 'list'> & {
  /** When the run was made, in milliseconds since 1970-01-01 UTC, without reading it; 0 where nothing tells. */
  readonly timeOf: (runId: string) => number;
  /** What runs are called, by as few reads as it takes; the result answers null for a run of which nothing tells. */
  readonly labels: (runIds: readonly string[]) => (runId: string) => RunLabel | null;
  /** How the run began, by a small read; null where that is not known. */
  readonly readCreated: (runId: string) => RunCreated | null;
  /** What the run did, also where `read` refuses because what it started from is lost. */
  readonly readEvents: (runId: string) => Pick<StoredRun, 'events' | 'damage'>;
  /**
   * The events of a run behind the first `afterSeq`, those that are there and then those that come. Ends behind
   * `run.finished`, when the run is removed, and when the signal is aborted, then behind what has come until then. An event
   * whose `seq` is not higher than that of the one before stands for everything from there on: damage was cut off.
   */
  readonly followEvents: (runId: string, afterSeq: number, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Goes on at once, and whenever there may be another run, or one less, until the signal is aborted. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<void>;
  /**
   * Takes over a run whose owner is dead or done, so that its end can be written: its journal goes on behind the last
   * event that can be trusted. Throws a `WfError`: `not-found`, `run-active` when the owner lives or another process
   * was faster, `storage`.
   */
  readonly openForRecovery: (runId: string) => RunJournal;
  /**
   * Whether whoever owns a run still lives, also where that is another namespace: `gone` too when nobody owns it any more. Of one that
   * is found gone `openForRecovery` and `remove` know it from then on. Rejects with a `WfError` `storage`.
   */
  readonly judgeOwner: (runId: string) => Promise<OwnerVerdict>;
  /** A person says that the owner is gone, which cannot be seen from here. Throws a `WfError` `storage`. */
  readonly declareGone: (runId: string) => void;
  /** False for a run that is certainly over, by a look at its directory alone. */
  readonly mayGoOn: (runId: string) => boolean;
};

/** `unknown`: it is of another machine or namespace, and there is no way to ask it. */
export type OwnerVerdict = 'alive' | 'gone' | 'unknown';

/** What can be removed, and how. Sizes are bytes of disk. Every method throws a `WfError` `storage` when the disk refuses. */
export type RunRemoval = {
  /**
   * Removes a run with its logs; answers what that freed, or null where it may not go, is gone already, or is owned by
   * somebody. `mayGo` looks at it again when nobody else can change it any more.
   */
  readonly remove: (runId: string, mayGo: () => boolean) => number | null;
  /** What `remove` would free. */
  readonly sizeOf: (runId: string) => number;
  /** Finishes removals that were cut short; answers what that freed, and tells what could not be removed. */
  readonly finishRemovals: () => { readonly bytes: number; readonly problems: readonly string[] };
  /** Whether nobody has asked this for so long; true for one of those that ask. */
  readonly claimTidying: (now: number, everyMs: number) => boolean;
};

/** What a run that waits begins with. */
export type QueuedRun = {
  readonly snapshot: Snapshot;
  readonly logDir: string | null;
  /** The first of the run. */
  readonly events: readonly RunEvent[];
  /** Everything that the process that will carry the run out has to know, with its secrets: only its own user can read it. */
  readonly launch: string;
};

/** Where runs wait for the process that carries them out, which takes one over by `openForRecovery`. */
export type RunQueue = {
  /**
   * Makes a run without an owner; resolves when all of it is on the disk. Throws as `create` does: then there is no run, or, where
   * the disk does not even take it back, the message says that it is queued.
   */
  readonly accept: (run: QueuedRun) => Promise<void>;
  /** Null when it was taken away or is damaged. It goes with `close` of the run's journal at the latest. */
  readonly readLaunch: (runId: string) => string | null;
  readonly removeLaunch: (runId: string) => void;
};

/** How other processes reach the owner of a run. */
export type RunControl = {
  /** Puts the request on the disk, where the owner finds it however late. Throws a `WfError` `storage`. */
  readonly requestStop: (runId: string, request: StopRequest) => void;
  /** The last request; null when there was none. */
  readonly readStop: (runId: string) => StopRequest | null;
  /** Makes the owner look for requests. Null when it does not listen, or not yet. */
  readonly knock: (runId: string) => Promise<OpenDoor | null>;
  /** Opens a file for what the process that carries the run says itself; the caller closes the descriptor. */
  readonly openProcessLog: (runId: string) => { readonly fd: number; readonly path: string };
};

/** Short private texts that the processes of runs leave for a daemon, one for each run, until it takes them away. */
export type RunNotes = {
  /** In the place of the one before. Throws a `WfError` `storage`. */
  readonly write: (runId: string, text: string) => void;
  readonly all: () => readonly { readonly runId: string; readonly text: string }[];
  readonly remove: (runId: string) => void;
};

/** A line to the owner of a run. */
export type OpenDoor = {
  /** Resolves when the owner has given up the run, or has died. */
  readonly closed: Promise<void>;
  readonly leave: () => void;
};

/** The first event of a run. */
export type RunCreated = Extract<StoredEvent, { type: 'run.created' }>;

/** What the workflow of a run is called. */
export type RunLabel = Pick<RunCreated, 'workflow' | 'group' | 'file'>;

/**
 * Whose schedules are suspended: such a workflow can be started by hand, but is not started by the time. Workflows are named
 * by the absolute paths of their files. Every method throws a `WfError` `storage` when the disk refuses.
 */
export type Suspensions = {
  readonly isSuspended: (file: string) => boolean;
  readonly set: (file: string, suspended: boolean) => void;
  /** A file has another name now: what was true of the old one is true of the new one. */
  readonly move: (from: string, to: string) => void;
  /** A text that differs when anything here does. */
  readonly stamp: () => string;
};

/** The beginning and the end of a log. One that is small enough is all in `head`. */
export type LogExcerpt = {
  /** Bytes of the whole log. */
  readonly size: number;
  readonly head: Uint8Array;
  readonly tail: Uint8Array;
};

/** A small private text that survives whatever happens: a reader finds the old one or the new one, whole. */
export type DurableText = {
  /** For messages. */
  readonly path: string;
  /** Null when it was never written. Throws a `WfError` `storage`. */
  readonly read: () => string | null;
  /** Returns when the text is on the disk. Throws a `WfError` `storage`; then the old one is still there. */
  readonly write: (text: string) => void;
};

/** New output of a step, as raw bytes in the order in which they were written to that stream. */
export type LogChunk = {
  readonly step: string;
  readonly attempt: number;
  readonly stream: 'stdout' | 'stderr';
  /** Valid only until `deliver` returns: what is to be kept must be copied. */
  readonly bytes: Uint8Array;
};

/** Bytes from the start of each file. */
export type LogOffsets = { readonly stdout: number; readonly stderr: number };

export type LogFollowerOptions = {
  readonly deliver: (chunk: LogChunk) => void;
  /** While it answers true, running steps are not read: whoever gets the chunks is behind, and the logs keep it all. */
  readonly isBlocked?: () => boolean;
};

/** Reads the logs of running attempts while they grow. Its timers keep no process alive. */
export type LogFollower = {
  /** From the start of both files, which need not exist yet, or from behind so many bytes of each. */
  readonly follow: (step: string, attempt: number, paths: LogPaths, read?: LogOffsets) => void;
  /**
   * Delivers what is left, at most a MiB at a time, blocked or not; answers whether that was all, up to where the files end
   * now. Then the attempt is forgotten, else it is to be called again.
   */
  readonly finish: (step: string, attempt: number) => boolean;
  /** Delivers what is there now of an attempt, at most a MiB; it is followed on. */
  readonly catchUp: (step: string, attempt: number) => void;
  /** Forgets all attempts without delivering anything more. */
  readonly close: () => void;
};
