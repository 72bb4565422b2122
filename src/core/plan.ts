import type { StaleReason } from './fingerprint.ts';
import type { Param } from './run/run.ts';

/** The actions of a run that did not take place; backticks are kept as written. */
export type Plan = {
  readonly workflow: string;
  /** The moment of the plan; absent: that of a run which starts now. */
  readonly scheduledFor?: string;
  readonly params: readonly Param[];
  readonly env: Readonly<Record<string, string>>;
  /** The dotenv files in the order in which they are read; `names` is null for a file that does not exist. */
  readonly dotenv: readonly PlannedDotenv[];
  /** The path of a file `.env` that the workflow could read but does not name; null if no such file exists. */
  readonly unreadDotenv: string | null;
  /**
   * Numbers taken from variables, one line each: `timeoutSec: 90`, or what is wrong with it; absent if there are
   * none.
   */
  readonly limits?: readonly string[];
  /** The locks of the run in one line; absent if it has none. */
  readonly locks?: string;
  /** When the run is late: `30m00s after its start, or at 06:30`; absent: never. */
  readonly late?: string;
  /** Names of the steps that may run at the same time, by wave. */
  readonly waves: readonly (readonly string[])[];
  readonly steps: readonly PlannedStep[];
  /** All handlers of the workflow; which of them run depends on the outcome. */
  readonly handlers: readonly PlannedStep[];
  /** The reason why no step would run; null: the workflow's preconditions are met, or known only during a run. */
  readonly skipped: string | null;
  /** With an engine: whether it can carry out the run. */
  readonly engine?: EngineFit;
};

/** What a run of a workflow needs of an engine, and what the engine has. */
export type EngineFit = {
  readonly url: string;
  /** Why the engine refuses the run before it starts; empty: it takes it. */
  readonly refusals: readonly EngineRefusal[];
  /** The workers that it needs, the others of its child runs included; first those for steps without labels. */
  readonly workers: readonly NeededWorkers[];
  /** The queues of runs in which it waits for a slot. */
  readonly queues: readonly string[];
  /** Why the connected workers are not known, or cannot execute the run; null if they can. */
  readonly problem: string | null;
};

/** `step`: null if it concerns the workflow. */
export type EngineRefusal = { readonly step: string | null; readonly message: string; readonly help: string | null };

/** Workers with the same labels. */
export type NeededWorkers = {
  /** In one line: `gpu=true,os=linux`; empty: any worker. Variables that only a run knows are as in the file. */
  readonly labels: string;
  /** The steps and handlers that need them; empty for any worker. Those of child runs as `WORKFLOW: STEP`. */
  readonly steps: readonly string[];
  /** The connected workers with these labels, by their names; null: that is not known before a run. */
  readonly connected: readonly string[] | null;
};

/** A dotenv file of a plan. */
export type PlannedDotenv = { readonly path: string; readonly names: readonly string[] | null };

/** One step of a plan. */
export type PlannedStep = {
  readonly name: string;
  readonly depends: readonly string[];
  readonly executor: string;
  /** The command as the file has it: variables are not replaced. */
  readonly command: string;
  /** The script as the file has it; absent if there is none. */
  readonly script?: string;
  /** The values of the variables that command and script use, if they are known before a run. */
  readonly values: Readonly<Record<string, string>>;
  readonly dir: string;
  /** The maximum number of attempts, retries included. */
  readonly attempts: number;
  /** Retries, repetitions and tolerated failures, each in one line. */
  readonly policies: readonly string[];
  /** The reason why the step would be skipped; null: it would run, or that is known only during a run. */
  readonly skipped: string | null;
  /** Of a step with `sources`: whether it would be up to date; absent if that was not checked. */
  readonly cache?: PlannedCache;
};

/** Whether a step would be up to date. */
export type PlannedCache = {
  /** Null: that is known only during a run. */
  readonly hit: boolean | null;
  /** Why it would run; of a restored step, why its last success does not count. */
  readonly reason: readonly StaleReason[];
  /** The number of reasons that are left out; absent: none. */
  readonly more?: number;
  /** The id of the run with the last success, or the restored one; null: none is stored, or the step runs for several items. */
  readonly from: string | null;
  /** The files of that success would be restored; absent: not. */
  readonly restored?: true;
  /** Why its inputs cannot be read; absent if they can. */
  readonly problem?: string;
};

/** Why a step with `sources` would run, or not; `reason` is complete. */
export type StepWhy = PlannedCache & { readonly step: string };
