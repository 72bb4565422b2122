import type { ProcessIdentity } from '../core/run/run.ts';

/** How a process ended: by its exit code or by a signal. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Files that a program's output is appended to. */
export type OutputFiles = { readonly stdoutPath: string; readonly stderrPath: string };

/** It could not be started after all; `error` is a system error. */
export type FailedStart = { readonly error: unknown };

/** A program on its way. */
export type StartedProcess = {
  readonly identity: ProcessIdentity;
  readonly ended: Promise<ProcessEnd | FailedStart>;
  /** It need not be waited for any more. */
  readonly abandon: () => void;
};
