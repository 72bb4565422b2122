import type { AttemptLog } from '#executors/executor.ts';

/** An output stream of a program. */
export type ProgramStream = 'stdout' | 'stderr';

/**
 * The name of a log. An attempt has one, `output`, to which both streams of its programs are appended, or with
 * `logOutput: separate` one for each stream. `stdout` of an attempt with one log is that log, and `stderr` is empty;
 * `output` of an attempt with two is `stdout`.
 */
export type LogStream = 'output' | ProgramStream;

/**
 * The stored output of one stream of one attempt, wherever it is stored. It is empty if it does not exist, and if its
 * step replaced it by something other than a file. Methods reject with a `WfError`: `storage` for a log that cannot be
 * read, or the errors of the daemon that has it.
 */
export type LogFile = {
  /** The path on this machine; null for a log of a daemon. */
  readonly path: string | null;
  readonly size: () => Promise<number>;
  /** The bytes from `from` to before `to` or the end, by default the present one. A chunk is valid until the next one. */
  readonly read: (from: number, to?: number) => AsyncIterable<Uint8Array>;
};

/** A size that a log had reached, in bytes, and when, in milliseconds since 1970-01-01 UTC. */
export type LogTime = readonly [size: number, at: number];

/** The output of one run, on this machine or of a daemon. */
export type RunLogs = {
  /** Throws a plain error for a name that is neither a step nor a handler. */
  readonly file: (step: string, attempt: number, stream: LogStream) => LogFile;
  /** The logs of an attempt that has started: `output`, or `stdout` and `stderr`. */
  readonly streams: (step: string, attempt: number) => Promise<readonly LogStream[]>;
  /** When a log grew, at most four times a second; null if that was not noted: see `timesOf`. */
  readonly times: (step: string, attempt: number, stream: LogStream) => Promise<readonly LogTime[] | null>;
};

/** The output of a run on this machine. */
export type StoredLogs = RunLogs & {
  /** The directory of the logs, which also marks the processes of the run. */
  readonly directory: string;
  readonly follow: (options: LogFollowerOptions) => LogFollower;
  /** The same as `readTail`, at once: a run that is not stored removes its logs after its last event. */
  readonly tail: (attempt: { readonly step: string; readonly attempt: number }) => readonly string[];
  /** The path of a file with this stream of an attempt: of the stream alone if it was kept, else of the log. */
  readonly pathOf: (step: string, attempt: number, stream: ProgramStream) => string;
};

/** How the output of an attempt is stored. */
export type LogForm = {
  /** Whether each stream has a log. */
  readonly isSeparate: boolean;
  /** The streams of an attempt with one log that are also kept alone, in a file beside the log. */
  readonly kept: readonly ProgramStream[];
};

/** The output of a run for its owner. */
export type LogStore = StoredLogs & {
  /** Opens the logs of one attempt; the caller closes the descriptors. Throws a `WfError` `storage`. */
  readonly open: (step: string, attempt: number, form: LogForm) => OpenLogs;
  /** Notes when the open logs of an attempt grow, until the returned function is called. */
  readonly watch: (log: AttemptLog, now: () => number) => () => void;
};

/** The open logs of an attempt, and those of the streams that are kept alone. */
export type OpenLogs = {
  readonly log: AttemptLog;
  readonly kept: { readonly [stream in ProgramStream]?: { readonly path: string; readonly fd: number } };
};

/** New output of a step, as raw bytes in the order in which they were written to that log. */
export type LogChunk = {
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  /** Valid only until `deliver` returns; copy it to keep it. */
  readonly bytes: Uint8Array;
  /** When it was written, at most a quarter of a second late; absent if that is not wanted, null if it is unknown. */
  readonly at?: number | null;
};

/** Bytes from the start of each log; `stdout` is also that of the only one. */
export type LogOffsets = { readonly stdout: number; readonly stderr: number };

export type LogFollowerOptions = {
  readonly deliver: (chunk: LogChunk) => void;
  /** While it returns true, running steps are not read: the consumer is behind, and the logs keep everything. */
  readonly isBlocked?: () => boolean;
  /** For one of many followers in a process. */
  readonly pace?: LogPace;
};

/** The approximate number of bytes of one look at the logs, and the turn that each look waits for. */
export type LogPace = { readonly bytes: number; readonly turn: () => Promise<void> };

/** Reads the logs of running attempts while they grow. Its timers keep no process alive. */
export type LogFollower = {
  /** Follows the logs of an attempt that has started, from their start or from these offsets. */
  readonly follow: (step: string, attempt: number, read?: LogOffsets) => void;
  /** Delivers the rest, blocked or not, at most 1 MiB or the bytes of the pace; true if that was all. */
  readonly finish: (step: string, attempt: number) => boolean;
  /** Delivers the present output of an attempt, at most 1 MiB, and continues to follow it. */
  readonly catchUp: (step: string, attempt: number) => void;
  readonly close: () => void;
};
