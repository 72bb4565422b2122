/** A flush that was requested. */
export type Flush = {
  /** Resolves when it is done; rejects with a `WfError` `storage`. */
  readonly done: Promise<void>;
  /**
   * The file, if the starter of programs makes the flush: it starts no program that is requested later before it has
   * succeeded, if the request names the file. Else null.
   */
  readonly queued: string | null;
};
