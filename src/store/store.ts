import type { Fingerprint } from '#core/fingerprint.ts';
import type {
  BlockedBy,
  FinishedStatus,
  KeptFile,
  LockHolder,
  Outputs,
  ProcessIdentity,
  RunEvent,
  StoredEvent,
} from '#core/run/run.ts';
import type { CacheRule, Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import type { SystemProblem, WfError } from '#system/errors.ts';
import type { LogStore, StoredLogs } from './logs.ts';

/** Everything that a run starts from; stored before its first event and never changed. */
export type Snapshot = {
  readonly runId: string;
  readonly workflow: Workflow;
  /** The texts that the workflow was read from, so that positions in them can be shown later. */
  readonly sources: readonly Source[];
  /** Present: secrets in its texts are masked as `***`, so that it can be shown but not run again. */
  readonly masked?: true;
};

/** A run as any process can read it, even while its owner writes. */
export type StoredRun = Snapshot & {
  /** The events before any damage, in order, without a gap. */
  readonly events: readonly StoredEvent[];
  /** Damage of the journal, as sentences; empty if there is none. */
  readonly damage: readonly string[];
  readonly logs: StoredLogs;
  readonly artifacts: StoredArtifacts;
};

/** The kept files of a run on this machine. */
export type StoredArtifacts = {
  readonly directory: string;
  /**
   * Opens a file for reading by the step or instance, and its path, as its event names them; the caller closes it. Null if it
   * is gone. Never follows a link. Throws a `WfError` `storage`.
   */
  readonly open: (step: string, path: string) => number | null;
  /** Whether there are files; false once `RunRemoval` has removed them. Never throws. */
  readonly exist: () => boolean;
};

/** The kept files of a run for its owner. Methods throw a `WfError` `storage`. */
export type ArtifactStore = Pick<StoredArtifacts, 'open'> & {
  /** Creates a private directory, which is removed with the scratch files of the run. */
  readonly stage: () => string;
  /** Replaces the files of a step or instance by those in a staged directory, which then is gone; null: by none. */
  readonly replace: (step: string, staged: string | null) => void;
  /** The directory of the files of a step, of an instance, or of all instances of a fan-out; it may not exist. */
  readonly pathOf: (step: string) => string;
  /** That of all files of another run; null for a run that is not stored. */
  readonly ofRun: (runId: string) => string | null;
  /** Takes files of a step over from another run; returns those that are gone. */
  readonly takeOver: (runId: string, step: string, files: readonly KeptFile[]) => readonly KeptFile[];
};

/** The last stored success of a step, or of an instance of a fan-out. */
export type StoredSuccess = {
  readonly runId: string;
  /** In milliseconds since 1970-01-01 UTC. */
  readonly at: number;
  readonly durationMs: number;
  readonly exitCode: number | null;
  readonly outputs: Outputs;
  readonly entries: Fingerprint;
};

/** The hashes of files that were read for a step, by their stamps; lost ones are computed again. `save` stores those in use. */
export type StoredHashes = {
  readonly get: (stamp: string) => string | undefined;
  readonly set: (stamp: string, hash: string) => void;
  readonly save: () => void;
};

/**
 * The fingerprints of the steps of one workflow file, which all runs of this home share. Other methods than `read` throw a
 * `WfError` `storage`.
 */
export type FingerprintStore = {
  /** The key of the hashes of values; created on first use. */
  readonly key: () => Buffer;
  /**
   * The last success of a step; `isCurrent`: no attempt at it has begun since. `damage`: why what is stored cannot be used, as
   * words; null: it can, or nothing is stored.
   */
  readonly read: (step: string) => {
    readonly success: StoredSuccess | null;
    readonly isCurrent: boolean;
    readonly damage: string | null;
  };
  readonly hashes: (step: string) => StoredHashes;
  /** Notes that an attempt begins, on disk when it returns: until its success is stored, no earlier one counts. */
  readonly begin: (step: string) => string;
  /**
   * Stores the success of the attempt with this token; null: it has no success to store. Returns false if another attempt at the
   * step began meanwhile: then no success counts, since both wrote the same files.
   */
  readonly end: (step: string, token: string, success: StoredSuccess | null) => boolean;
};

/** A file or a link that a step generated, by its path below the directory of the step. */
export type CachedFile =
  | { readonly path: string; readonly bytes: number; readonly sha256: string; readonly executable?: true }
  | { readonly path: string; readonly link: string };

/** A success with what it generated. The content of its files is in the cache, too. */
export type CachedSuccess = Omit<StoredSuccess, 'entries'> & { readonly files: readonly CachedFile[] };

/** What an earlier success must have in common with a step; `home`: it may be that of another workflow file. */
export type CacheSlot = {
  readonly step: string;
  readonly scope: CacheRule['scope'];
  readonly entries: Fingerprint;
};

/** A success that is being kept. `close` removes what is not kept. */
export type CacheDraft = {
  /** A path at which nothing exists, for the content of a file. */
  readonly nextPath: () => string;
  /** Takes over the file at such a path. */
  readonly keep: (path: string, sha256: string) => void;
  /** Stores the success, and removes those that were used least recently until the others fit. */
  readonly end: (slot: CacheSlot, success: CachedSuccess) => void;
  readonly close: () => void;
};

/**
 * Earlier successes of the steps of one workflow file, of which one with the same inputs can be restored. All runs of this home
 * share it; whatever is missing or damaged makes a step run. Methods throw a `WfError` `storage`, except `read` and `close`.
 */
export type ResultCache = {
  /** The size of the cache; 0: nothing is kept. */
  readonly maxBytes: number;
  /** `damage`: why what is stored cannot be used, as words; null: it can, or nothing is stored. */
  readonly read: (slot: CacheSlot) => { readonly success: CachedSuccess | null; readonly damage: string | null };
  /** Opens the content of a file; null: it is missing. The caller closes it. */
  readonly open: (sha256: string) => number | null;
  /** Notes that a success was restored. */
  readonly use: (slot: CacheSlot) => void;
  readonly drop: (slot: CacheSlot) => void;
  /** Removes a content that is not the one it should be. */
  readonly discard: (sha256: string) => void;
  readonly begin: () => CacheDraft;
};

/** The number of removed successes, and the bytes of what was removed with them. */
export type Cleared = { readonly count: number; readonly bytes: number };

/** What a plan compares the steps of a workflow with. */
export type StepChecks = { readonly fingerprints: FingerprintStore; readonly cache: ResultCache };

/** The files that the attempts of a run write. */
export type RunFiles = {
  /** The journal on this machine; null without one. */
  readonly path: string | null;
  readonly logs: LogStore;
  /** Absent: the engine refuses steps that keep files. */
  readonly artifacts?: ArtifactStore;
  /** Absent: a run that is not stored, or whose workflow has no file. Its steps always run. */
  readonly fingerprints?: () => Promise<FingerprintStore>;
  /** Absent with `fingerprints`. */
  readonly results?: () => Promise<ResultCache>;
  /** A private path inside the run for files that only the run needs (scripts, large outputs); created on first use. */
  readonly scratch: () => string;
};

/** The owner's hold on its run: the only way to write it. */
export type RunJournal = RunFiles & {
  readonly runId: string;
  /**
   * Passes the events to the operating system, so that they survive the process; all of them or, if it throws a `WfError`
   * `storage`, none.
   */
  readonly append: (events: readonly RunEvent[]) => readonly StoredEvent[];
  /** Resolves when everything up to this event, or else all so far, is on disk. Calls share flushes. */
  readonly flush: (seq?: number) => Promise<void>;
  /** The same for the start of a program: its starter may flush. */
  readonly queueFlush: (seq: number) => Flush;
  /** Reports requests, earlier ones too, until `close`. Never rejects: it polls where no socket can be opened. */
  readonly listen: (listener: OwnerListener) => Promise<void>;
  /** Flushes, removes scratch files and gives the run up; resolves to why some files still exist, else null. */
  readonly close: () => Promise<string | null>;
  /** Flushes and gives up the ownership of a waiting run, whose scratch files stay. */
  readonly handBack: () => Promise<void>;
};

/**
 * A requested flush. `queued`: the file, if the starter of programs flushes it, and only then starts programs that are
 * requested later for this file; else null.
 */
export type Flush = { readonly done: Promise<void>; readonly queued: string | null };

/** A request to the owner of a run to end it. */
export type StopRequest = {
  readonly at: number;
  readonly by: string;
  /** Kill at once. */
  readonly force: boolean;
};

/** An answer to the approval of a step, for the owner of the run. */
export type AnswerRequest = {
  readonly step: string;
  readonly decision: 'approved' | 'rejected';
  readonly by: string;
  readonly comment: string;
  readonly inputs: Readonly<Record<string, string>>;
};

/** Receives the requests of other processes to the owner of a run. */
export type OwnerListener = {
  readonly stop: (request: StopRequest) => void;
  readonly answer: (request: AnswerRequest) => void;
  /** The files of the run were removed, or another process has taken it over: no request can arrive any more. */
  readonly gone: (error: WfError) => void;
};

/** A store of runs. */
export type RunStore = {
  /**
   * Creates a run with the caller as its owner. Throws a `WfError`: `run-exists` if the id is taken (then nothing is
   * changed), `storage` on a disk error, `usage` if the id is not 1 to 128 of `A-Z a-z 0-9 . _ -`. `launch`: with this
   * text, as in `QueuedRun`, the run may continue without an owner until its journal is closed. `createdAt`: the
   * time of such a run, in milliseconds since 1970-01-01 UTC; default: now.
   */
  readonly create: (
    snapshot: Snapshot,
    options: { readonly logDir: string | null; readonly launch?: string; readonly createdAt?: number },
  ) => RunJournal;
  /** Null if there is no such run. Throws a `WfError` `storage` if its snapshot can no longer be read. */
  readonly read: (runId: string) => StoredRun | null;
  /** Ids of all runs, newest first. */
  readonly list: () => readonly string[];
};

/** Past runs, for any process. */
export type RunArchive = Pick<RunStore, 'read' | 'list'> & {
  /** Lists the unknown runs and counts the known ones, in less memory than `list`. */
  readonly listNew: (isKnown: (runId: string) => boolean) => NewRuns;
  /** Returns a stamp that changes with the list of runs; null if a change could be missed, so that the list must be read. */
  readonly listStamp: () => string | null;
  /** Reads like `read`, but only the events since an earlier result; the same object if there are none. */
  readonly readAgain: (runId: string, before: StoredRun | null) => StoredRun | null;
  /** When the run was created, in milliseconds since 1970-01-01 UTC, without reading it; 0 if unknown. */
  readonly timeOf: (runId: string) => number;
  /**
   * The labels of all runs, with as few reads as possible; the result returns null for a run whose label is unknown.
   * `runIds` must be all runs: what is stored of others is dropped.
   */
  readonly labels: (runIds: readonly string[]) => (runId: string) => RunLabel | null;
  /** The label of a run, by a small read; null if unknown. */
  readonly readLabel: (runId: string) => RunLabel | null;
  /** The statuses of finished runs, without reading them; `runIds` must be all runs, as `list` returns them. */
  readonly statuses: (runIds: readonly string[]) => RunStatuses;
  /** The first event of the run, by a small read; null if unknown. */
  readonly readCreated: (runId: string) => RunCreated | null;
  /** Returns a stamp that changes with the journal of a run, which is not read; null if the run has no journal. */
  readonly stampOf: (runId: string) => string | null;
  /** The directory of the run's files, for messages about damage. */
  readonly directoryOf: (runId: string) => string;
  /** The events of the run, even if `read` refuses because the snapshot is lost. */
  readonly readEvents: (runId: string) => Pick<StoredRun, 'events' | 'damage'>;
  /**
   * The events of a run after the first `afterSeq`: those that exist, then new ones as they come. Ends after
   * `run.finished`, when the run is removed, and when the signal is aborted, after all events so far. An event whose
   * `seq` is not higher than the previous one replaces everything from there on: damage was cut off.
   */
  readonly followEvents: (runId: string, afterSeq: number, signal: AbortSignal) => AsyncIterable<StoredEvent>;
  /** Yields at once, and whenever a run may have been added or removed, until the signal is aborted. */
  readonly changes: (signal: AbortSignal) => AsyncIterable<void>;
  /**
   * Takes over a run whose owner is dead or has given it up, so that its end can be recorded: its journal continues
   * after the last valid event. Throws a `WfError`: `not-found`, `run-active` if the owner is alive or another process
   * was faster, `storage`.
   */
  readonly openForRecovery: (runId: string) => RunJournal;
  /**
   * Whether the owner of a run is alive, even in another namespace; a run without an owner counts as `gone`. After
   * `gone`, `openForRecovery` and `remove` accept the run. Rejects with a `WfError` `storage`.
   */
  readonly judgeOwner: (runId: string) => Promise<OwnerVerdict>;
  /** Accepts a user's statement that the owner is gone, which cannot be determined from here. */
  readonly declareGone: (runId: string) => void;
  /** False for a run that has certainly finished, judged by its directory alone. */
  readonly mayGoOn: (runId: string) => boolean;
};

/** The ids of runs that are not known, newest first, and the number of the known runs that exist. */
export type NewRuns = { readonly fresh: readonly string[]; readonly known: number };

/** Remembered statuses of finished runs. Never throws: lost entries are read from the runs again. */
export type RunStatuses = {
  /** Null for a run that has changed or has none. Ask for the runs in the order in which the statuses were opened. */
  readonly of: (runId: string) => FinishedStatus | null;
  /** The duration of the run whose status `of` has just returned; null: unknown, or it was never started. */
  readonly durationOf: (runId: string) => number | null;
  /** Stores the status of a run that was read after `of` returned null. */
  readonly keep: (runId: string, status: FinishedStatus, durationMs: number | null) => void;
  readonly save: () => void;
};

/** `unknown`: the owner belongs to another machine or namespace and cannot be reached. */
export type OwnerVerdict = 'alive' | 'gone' | 'unknown';

/** What is removed of a run. */
export type RemovedPart = 'run' | 'artifacts';

/** The removal of runs. Sizes are bytes of disk. Every method throws a `WfError` `storage` on a disk error. */
export type RunRemoval = {
  /**
   * Removes a run with its logs, or only its artifacts; resolves to the freed bytes, or to null if they must stay, are already gone,
   * or the run has an owner.
   * `mayGo` checks it before it is held, unless the caller has just done so (`isChecked`), and again when no other
   * process can change it. The run is gone when the call returns, its files when the promise resolves.
   */
  readonly remove: (
    runId: string,
    mayGo: () => boolean,
    options?: { readonly isChecked?: boolean; readonly part?: RemovedPart },
  ) => Promise<number | null>;
  /** The bytes that `remove` would free. */
  readonly sizeOf: (runId: string, part?: RemovedPart) => number;
  /** Finishes interrupted removals; resolves to the freed bytes, and the problems of what could not be removed. */
  readonly finishRemovals: () => Promise<{ readonly bytes: number; readonly problems: readonly string[] }>;
  /** Whether no process has called this for `everyMs`. Two simultaneous callers may both get true. Never throws. */
  readonly claimTidying: (now: number, everyMs: number) => boolean;
};

/** The start of a waiting run. */
export type QueuedRun = {
  readonly snapshot: Snapshot;
  readonly logDir: string | null;
  readonly events: readonly RunEvent[];
  /** Everything the carrier needs to run it, secrets included: only its own user can read it. */
  readonly launch: string;
};

/** Runs that wait for a carrier, which takes a run over by `openForRecovery`. */
export type RunQueue = {
  /**
   * Creates a run without an owner; resolves when all of it is on disk. Throws as `create` does: then there is no run,
   * or, if the disk does not even allow its removal, the message says that it is queued.
   */
  readonly accept: (run: QueuedRun) => Promise<void>;
  /** Null if it was removed or is damaged. It is removed by `close` of the run's journal at the latest. */
  readonly readLaunch: (runId: string) => string | null;
  readonly removeLaunch: (runId: string) => void;
};

/** How other processes reach the owner of a run. */
export type RunControl = {
  /** Writes the request to disk, where the owner finds it at any later time. Throws a `WfError` `storage`. */
  readonly requestStop: (runId: string, request: StopRequest) => void;
  /** Writes an answer to disk, where the owner finds it at any later time. False if the step had an answer before. */
  readonly requestAnswer: (runId: string, request: AnswerRequest) => boolean;
  /** Removes the content of an answer that no longer counts; it may contain secrets. Throws a `WfError` `storage`. */
  readonly clearAnswer: (runId: string, step: string) => void;
  /** Returns when the events that this process has read are on disk. Throws a `WfError` `storage`. */
  readonly flushJournal: (runId: string) => void;
  /** The last request; null if there was none. Throws a `WfError` `storage`. */
  readonly readStop: (runId: string) => StopRequest | null;
  /** Makes the owner check for requests. Null if it does not listen, or not yet. */
  readonly knock: (runId: string) => Promise<OpenDoor | null>;
  /** Opens a file for the carrier's own output; the caller closes the descriptor. */
  readonly openProcessLog: (runId: string) => { readonly fd: number; readonly path: string };
};

/** A lock, or a queue with its slots, that processes of one home share. `size`: the slots that it has. */
export type LockName = {
  /** `rate`: the turn to count one use of a lock. */
  readonly kind: BlockedBy | 'rate';
  readonly name: string;
  readonly size: number;
  /** The id of a lock of that name that is held, among whose holder's steps and runs this one counts. */
  readonly within?: string;
};

/** A request for slots of a lock; those who read share it. */
export type LockRequest = LockName & {
  readonly mode: 'read' | 'write';
  readonly slots: number;
  /** How often the lock may be taken a minute; absent: as often as it is free. */
  readonly perMinute?: number;
  readonly by: Omit<LockHolder, 'since' | 'unknown'>;
};

/**
 * Slots of a lock that this process holds, until it releases them or ends. `release` returns false if they were taken away
 * before. `id`: unique among all processes.
 */
export type HeldLock = { readonly id: string; readonly release: () => boolean };

/** Locks for all processes of a home, first come, first served. All throw a `WfError` `storage` on a disk error. */
export type LockStore = {
  /**
   * Waits for slots; null if `stop` ended the wait. `blocked` is called if it has to wait, with the holder (null: others
   * only wait before it), and again when that changes, at most every 10 seconds.
   */
  readonly acquire: (
    request: LockRequest,
    wait: {
      readonly stop: { readonly aborted: boolean; readonly onAbort: (react: () => void) => () => void };
      readonly blocked: (holder: LockHolder | null) => void;
    },
  ) => Promise<HeldLock | null>;
  /** Takes slots at once, even beyond the size: they count for others. */
  readonly take: (request: LockRequest) => HeldLock;
  /** The locks and queues in use. `sizeOf`: their slots. */
  readonly list: (sizeOf: (kind: BlockedBy, name: string) => number) => Promise<readonly LockState[]>;
  /** Takes slots away from requests, by their ids; resolves to the number of those that were still there. */
  readonly break: (ids: ReadonlySet<string>) => Promise<number>;
};

/** A request for slots of a lock, granted or not. `since`: when it was granted, or made. `id`: unique among all processes. */
export type LockTicket = LockHolder & Pick<LockRequest, 'mode' | 'slots'> & { readonly id: string };

/** A lock or queue in use. */
export type LockState = {
  readonly kind: BlockedBy;
  readonly name: string;
  readonly size: number;
  /** Of a lock among what runs within a holder of that name: the holder; null: it is gone. */
  readonly within?: Pick<LockHolder, 'runId' | 'workflow' | 'step'> | null;
  readonly holders: readonly LockTicket[];
  /** In their order. */
  readonly waiters: readonly LockTicket[];
};

/** Short private texts that carriers leave for a daemon, one per run, until it removes them. */
export type RunNotes = {
  /** Replaces the previous note. Throws a `WfError` `storage`. */
  readonly write: (runId: string, text: string) => void;
  readonly all: () => readonly { readonly runId: string; readonly text: string }[];
  readonly remove: (runId: string) => void;
};

/** A connection to the owner of a run. */
export type OpenDoor = {
  /** Resolves when the owner has given up the run, or has died. */
  readonly closed: Promise<void>;
  readonly leave: () => void;
};

/** The first event of a run. */
export type RunCreated = Extract<StoredEvent, { type: 'run.created' }>;

/** The names of a run's workflow. */
export type RunLabel = Pick<RunCreated, 'workflow' | 'group' | 'file'>;

/**
 * The workflows with a suspended schedule: they can be started manually, but not by their schedules. A workflow is
 * identified by the absolute path of its file. Every method throws a `WfError` `storage` if the disk fails.
 */
export type Suspensions = {
  /** The end of the last suspension, which may have passed, in milliseconds since 1970; infinite: until it is resumed. */
  readonly endOf: (file: string) => number | null;
  /** Returns the end of a suspension that has not ended; null: the schedule is not suspended. */
  readonly suspendedUntil: (file: string) => number | null;
  /** Suspends until a time, or infinitely; null resumes. */
  readonly set: (file: string, until: number | null) => void;
  /** Transfers the state of a renamed file. */
  readonly move: (from: string, to: string) => void;
  /** Returns a text that changes with every change here, and with every end that passes. */
  readonly stamp: () => string;
};

/** A small private text that is replaced atomically: a reader finds the old text or the new one, never a part. */
export type DurableText = {
  /** For messages. */
  readonly path: string;
  /** Null if it was never written. Throws a `WfError` `storage`. */
  readonly read: () => string | null;
  /** Returns when the text is on disk. Throws a `WfError` `storage`; then the old text is kept. */
  readonly write: (text: string) => void;
};

/** A session of a browser on the disk. */
export type StoredSession = {
  /** A hash of the cookie. */
  readonly id: string;
  /** The kind of login that opened it. */
  readonly kind: string;
  /** That login under the cookie as a key. */
  readonly login: string;
  /** When the last request arrived, in milliseconds since 1970-01-01 UTC. */
  readonly usedAt: number;
};

/** The sessions of browsers across restarts of the daemon. */
export type SessionStore = {
  /** Throws a `WfError` `storage`, also for a damaged file. */
  readonly read: () => readonly StoredSession[];
  /** Throws a `WfError` `storage`; then the old sessions are kept. */
  readonly write: (sessions: readonly StoredSession[]) => void;
  /** Removes all. Throws a `WfError` `storage`. */
  readonly remove: () => void;
};

/** A list of run ids that a daemon leaves for its successor. */
export type StoredRunIds = {
  /** Empty if nothing was written, or it cannot be read. */
  readonly read: () => readonly string[];
  /** Returns when the list is on disk. Throws a `WfError` `storage`. */
  readonly write: (runIds: readonly string[]) => void;
  /** Like `write`, but waits for the disk in another thread. The next write must wait for it. */
  readonly writeInBackground: (runIds: readonly string[]) => Promise<void>;
};

/** A daemon's claim on the runs of a store: while it holds, no second daemon can start. */
export type DaemonClaim = {
  readonly tell: (url: string) => void;
  /** Null while it holds; else the error to end with: `conflict` for another daemon, `storage` without its directory. */
  readonly loss: () => WfError | null;
  readonly release: () => void;
};

/** A token and the file that holds it. */
export type DaemonToken = { readonly path: string; readonly token: string };

/** A daemon of this user and machine, and its token. */
export type OwnDaemon = { readonly url: string; readonly token: string };

/** The space of the file system of a directory, in bytes; `freeBytes`: what this process may still write. */
export type DiskSpace = { readonly path: string; readonly totalBytes: number; readonly freeBytes: number };

/**
 * What daemons and the commands beside them store besides runs. Methods throw a `WfError` `storage` on a disk error.
 *
 * @example
 * const claim = await state.claim();
 * try {
 *   claim.tell(server.url);
 * } finally {
 *   claim.release();
 * }
 */
export type DaemonState = {
  /** Makes this process the only daemon; replaces a dead one. Rejects with `conflict`, which names a running one. */
  readonly claim: () => Promise<DaemonClaim>;
  /** Claims the next start of a workflow, which one process at a time decides; null if another has the claim. */
  readonly claimStart: (workflow: string) => Promise<(() => void) | null>;
  /** The running daemon, if it listens at the address and has created a token; else null. */
  readonly findOwn: (address: string, isAlive: (process: ProcessIdentity) => boolean) => OwnDaemon | null;
  /** Returns the stored token, or stores a new one. Throws a `WfError` `usage` if what is stored is no token. */
  readonly keepToken: () => DaemonToken;
  readonly sessions: SessionStore;
  readonly suspensions: Suspensions;
  readonly schedule: DurableText;
  /** The runs whose finish is not reported yet. */
  readonly watched: StoredRunIds;
  /** The runs that may be retried. */
  readonly retries: StoredRunIds;
  /** Which runs of an engine are copied. */
  readonly engine: DurableText;
  /** The backfills. */
  readonly backfills: DurableText;
  /** The state of the log forwarding of each run. */
  readonly forwarding: RunNotes;
  /** The space where runs are stored; null if it is unknown. */
  readonly space: () => Promise<DiskSpace | null>;
  /** The shortage that would make a start fail now; null if there is none. */
  readonly refusal: () => SystemProblem | null;
};
