import type { ProcessIdentity } from '#core/run/run.ts';

/** How a process ended: with an exit code or by a signal. */
export type ProcessEnd = { readonly code: number | null; readonly signal: NodeJS.Signals | null };

/** Files that a program's output is appended to. */
export type OutputFiles = { readonly stdoutPath: string; readonly stderrPath: string };

/** The program could not be started; `error` is a system error. */
export type FailedStart = { readonly error: unknown };

/** A started program. */
export type StartedProcess = {
  readonly identity: ProcessIdentity;
  readonly ended: Promise<ProcessEnd | FailedStart>;
  /** Stop waiting for the process. */
  readonly abandon: () => void;
};
