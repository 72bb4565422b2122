import type { AttemptLog } from '../executors/executor.ts';

/** The name of an output stream. */
export type LogStream = 'stdout' | 'stderr';

/**
 * The stored output of one stream of one attempt, wherever it is stored. It is empty if it does not exist, and if its
 * step replaced it by something other than a file. Methods reject with a `WfError`: `storage` for a log that cannot be
 * read, or the errors of the daemon that has it.
 */
export type LogFile = {
  /** The path on this machine; null for a log of a daemon. */
  readonly path: string | null;
  /** The present size in bytes. */
  readonly size: () => Promise<number>;
  /**
   * The bytes from `from` up to, but not including, `to` (default: the present end); fewer if the log ends earlier. A
   * chunk is valid only until the next one is requested.
   */
  readonly read: (from: number, to?: number) => AsyncIterable<Uint8Array>;
};

/** The output of one run, on this machine or of a daemon. */
export type RunLogs = {
  /** Throws a plain error for a name that is neither a step nor a handler. */
  readonly file: (step: string, attempt: number, stream: LogStream) => LogFile;
};

/** The output of a run on this machine. */
export type StoredLogs = RunLogs & {
  /** The directory of the logs, which also marks the processes of the run. */
  readonly directory: string;
  readonly follow: (options: LogFollowerOptions) => LogFollower;
  /** The same as `readTail`, at once: a run that is not stored removes its logs after its last event. */
  readonly tail: (attempt: { readonly step: string; readonly attempt: number }) => readonly string[];
};

/** The output of a run for its owner. */
export type LogStore = StoredLogs & {
  /** Opens the logs of one attempt; the caller closes the descriptors. Throws a `WfError` `storage`. */
  readonly open: (step: string, attempt: number) => AttemptLog;
};

/** New output of a step, as raw bytes in the order in which they were written to that stream. */
export type LogChunk = {
  readonly step: string;
  readonly attempt: number;
  readonly stream: LogStream;
  /** Valid only until `deliver` returns; copy it to keep it. */
  readonly bytes: Uint8Array;
};

/** Bytes from the start of each stream. */
export type LogOffsets = { readonly stdout: number; readonly stderr: number };

export type LogFollowerOptions = {
  readonly deliver: (chunk: LogChunk) => void;
  /** While it returns true, running steps are not read: the consumer is behind, and the logs keep everything. */
  readonly isBlocked?: () => boolean;
};

/** Reads the logs of running attempts while they grow. Its timers keep no process alive. */
export type LogFollower = {
  /** Follows both streams, which need not exist yet, from their start or from these offsets. */
  readonly follow: (step: string, attempt: number, read?: LogOffsets) => void;
  /**
   * Delivers the rest, at most 1 MiB at a time, blocked or not. Returns true if that was everything up to the present
   * end of the logs, and forgets the attempt; otherwise call it again.
   */
  readonly finish: (step: string, attempt: number) => boolean;
  /** Delivers the present output of an attempt, at most 1 MiB, and continues to follow it. */
  readonly catchUp: (step: string, attempt: number) => void;
  /** Forgets all attempts without delivering anything more. */
  readonly close: () => void;
};
