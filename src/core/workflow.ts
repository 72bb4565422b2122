/**
 * What a valid workflow file means: checked, immutable, every default filled in. Positions in the file are not part of
 * it; they are found again in the sources when a message needs them.
 */

/** Text in which `$NAME`, `${NAME}`, `${NAME:-default}` and `$1` are replaced when the step (or the run) starts. */
export type Template = string;

/** A value that JSON can hold. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** An object of JSON values. */
export type JsonObject = { readonly [key: string]: Json };

/** One entry of `env`; the value may refer to the process's environment, to earlier entries and to parameters. */
export type Assignment = { readonly name: string; readonly value: Template };

/**
 * One default parameter: positional when `name` is null. The value may hold backtick substitutions. `open`: the file gives
 * none, and the value is empty for whoever cannot be asked.
 */
export type ParamDefault = { readonly name: string | null; readonly value: Template; readonly open?: true };

/**
 * A condition for a step or a workflow to run. With `expected` the evaluated condition must equal it, whole or in one
 * of its lines, or match it when it starts with `re:` (RE2 syntax). Without, `condition` is a command that must exit 0.
 */
export type Precondition = { readonly condition: Template; readonly expected: Template | null };

/** What a step or handler runs with. `type` is a key of the executor registry; `config` was checked against its schema. */
export type ExecutorSpec = { readonly type: string; readonly config: JsonObject };

/** A node of the graph, or a handler. */
export type Step = {
  /** Unique in the workflow. Handlers are named `handlerOn.success`, `.failure`, `.cancel` and `.exit`. */
  readonly name: string;
  readonly description: string;
  /** Where the step runs; relative to the workflow's `dir`. Null: the workflow's `dir` itself. */
  readonly dir: Template | null;
  /** Text is split into words or goes to the shell; a list is the words themselves. Other executors read it their way. */
  readonly command: Template | readonly Template[] | null;
  readonly args: readonly Template[];
  readonly script: string | null;
  /** The shell of this step, with its options (`bash -e`). Null: the workflow's. */
  readonly shell: string | null;
  readonly executor: ExecutorSpec;
  /** Names of the steps that must settle first, without repetition, in the order of the file. */
  readonly depends: readonly string[];
  readonly preconditions: readonly Precondition[];
  readonly continueOn: { readonly failure: boolean; readonly skipped: boolean };
  /** `limit` further attempts after the first, each `intervalMs` after the end of the one before. */
  readonly retry: { readonly limit: number; readonly intervalMs: number };
  /** Null: the step runs once. */
  readonly repeat: { readonly intervalMs: number } | null;
  readonly stdout: Template | null;
  readonly stderr: Template | null;
  /** The variable that receives the trimmed standard output. */
  readonly output: string | null;
  readonly env: readonly Assignment[];
  /** A signal name such as `SIGTERM`. */
  readonly signalOnStop: string;
  /** 0: no limit. Counts for one attempt. */
  readonly timeoutMs: number;
  readonly mailOn: { readonly failure: boolean; readonly success: boolean };
  /** True: what the step leaves in the background outlives the run. */
  readonly leaveBackground: boolean;
};

/** Which handler: one for each outcome, then `exit` in any case. */
export type HandlerKind = 'success' | 'failure' | 'cancel' | 'exit';

/** Mail settings for one outcome. */
export type MailSettings = {
  readonly from: Template;
  readonly to: readonly Template[];
  readonly prefix: string;
  readonly attachLogs: boolean;
};

/** The mail server. */
export type SmtpSettings = {
  readonly host: Template;
  readonly port: Template;
  readonly username: Template | null;
  readonly password: Template | null;
};

/** A value to be masked everywhere: the name of an env entry or parameter, or one read from the environment or a file. */
export type SecretSource = {
  readonly name: string;
  readonly env: string | null;
  readonly file: string | null;
};

/** When the workflow is started, stopped and restarted by a daemon. */
export type Schedule = {
  /** Cron expressions, each of which may begin with a time zone of its own (`CRON_TZ=Europe/Berlin`). */
  readonly start: readonly string[];
  readonly stop: readonly string[];
  readonly restart: readonly string[];
  /** The IANA name of the zone in which expressions without their own are read; null: the machine's. */
  readonly timeZone: string | null;
  /** What happens when a run is due while another run of the workflow is active: none, one after it, one beside it. */
  readonly overlap: 'skip' | 'queue' | 'all';
  /** Which of the runs are made up for that were due while nobody could start them. */
  readonly catchup: 'none' | 'latest' | 'all';
  /** How far back they may lie; null: without limit. */
  readonly catchupWindowMs: number | null;
};

/** The schedule of a workflow that has none. */
export const noSchedule: Schedule = {
  start: [],
  stop: [],
  restart: [],
  timeZone: null,
  overlap: 'skip',
  catchup: 'none',
  catchupWindowMs: null,
};

/** A workflow as it is run. */
export type Workflow = {
  readonly name: string;
  /** Absolute path of the root file; null for standard input. */
  readonly file: string | null;
  /** Absolute path in which steps run by default. */
  readonly dir: string;
  readonly group: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schedule: Schedule;
  readonly params: readonly ParamDefault[];
  readonly env: readonly Assignment[];
  readonly secrets: readonly SecretSource[];
  readonly preconditions: readonly Precondition[];
  /** In the order of the file; imported steps first, in the order of `imports`. */
  readonly steps: readonly Step[];
  readonly handlers: { readonly [kind in HandlerKind]: Step | null };
  readonly mailOn: { readonly failure: boolean; readonly success: boolean; readonly cancel: boolean };
  readonly smtp: SmtpSettings | null;
  readonly errorMail: MailSettings | null;
  readonly infoMail: MailSettings | null;
  readonly logDir: Template | null;
  /** Below 0: for ever. */
  readonly histRetentionDays: number;
  /** Least time between the starts of two steps. */
  readonly delayMs: number;
  /** Most steps at once; 0: no limit. */
  readonly maxActiveSteps: number;
  /** Of the whole run without its handlers; 0: no limit. */
  readonly timeoutMs: number;
  readonly restartWaitMs: number;
  /** What a stop leaves to the steps before they are killed (`MaxCleanUpTimeSec`). */
  readonly graceMs: number;
  /** The shell with its options, `sh` by default. */
  readonly shell: string;
};

/** The name under which the handler of a kind goes through the run like a step. No step may have such a name. */
export function handlerName(kind: HandlerKind): string {
  return `handlerOn.${kind}`;
}

/** The kind of the handler that a node's name stands for; null for a step. */
export function handlerKind(name: string): HandlerKind | null {
  const kind = name.startsWith('handlerOn.') ? name.slice('handlerOn.'.length) : '';
  return kind === 'success' || kind === 'failure' || kind === 'cancel' || kind === 'exit' ? kind : null;
}
