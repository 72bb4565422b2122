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
