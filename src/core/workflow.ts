/**
 * A valid workflow file: checked, immutable, with every default filled in. It contains no positions; they are looked
 * up in the sources when a message needs them.
 */

/** Text in which `$NAME`, `${NAME}`, `${NAME:-default}` and `$1` are replaced when the step (or the run) starts. */
export type Template = string;

/** Any JSON value. */
export type Json = string | number | boolean | null | readonly Json[] | JsonObject;
/** An object of JSON values. */
export type JsonObject = { readonly [key: string]: Json };

/** One entry of `env`; the value may refer to the process's environment, earlier entries and parameters. */
export type Assignment = { readonly name: string; readonly value: Template };

/**
 * A file with environment variables. `secret`: all its values are masked. `dir`: `workingDir` if it contains variables, to
 * which the path is relative.
 */
export type DotenvFile = {
  readonly path: Template;
  readonly required: boolean;
  readonly secret: boolean;
  readonly dir?: Template;
};

/** The values that a declared parameter takes. Absent limits do not apply. */
export type ParamRule = {
  /** The value of a list (`array`) or map (`object`) is its JSON text. */
  readonly type: 'string' | 'integer' | 'number' | 'boolean' | 'array' | 'object';
  /** The run does not start without a value. */
  readonly required?: true;
  readonly choices?: readonly string[];
  readonly minimum?: number;
  readonly maximum?: number;
  /** In characters. */
  readonly minLength?: number;
  readonly maxLength?: number;
  /** In RE2 syntax, searched for in the value. */
  readonly pattern?: string;
  readonly description?: string;
};

/**
 * One default parameter: positional if `name` is null. The value may contain backtick substitutions. `open`: the file
 * gives no value; it is empty if the user cannot be prompted. `rule`: what a declared parameter accepts.
 */
export type ParamDefault = {
  readonly name: string | null;
  readonly value: Template;
  readonly open?: true;
  readonly rule?: ParamRule;
};

/**
 * A condition for a step or a workflow to run, or for a step to repeat. With `expected`, the evaluated condition must
 * equal it, as a whole or in one of its lines, or match it if it starts with `re:` (RE2 syntax). Without `expected`,
 * `condition` is a command that must exit 0. With `negate`, the opposite must hold.
 */
export type Precondition = { readonly condition: Template; readonly expected: Template | null; readonly negate?: true };

/** Which ends of a step let its dependents run as if it had succeeded. */
export type Tolerance = {
  /** Any failure. */
  readonly failure: boolean;
  readonly skipped: boolean;
  /** Failures with one of these exit codes. */
  readonly exitCodes?: readonly number[];
  /** Failures whose last attempt printed a line with one of these texts, or matching one after `re:` (RE2 syntax). */
  readonly output?: readonly string[];
  /** A tolerated failure makes the step `succeeded`. */
  readonly markSuccess?: true;
};

/**
 * Waits between the attempts or repetitions of a step: `intervalMs`, multiplied by `backoff` after each one, and at most
 * `maxIntervalMs`.
 */
export type Waits = {
  readonly intervalMs: number;
  readonly backoff?: number;
  readonly maxIntervalMs?: number;
};

/** `limit` further attempts after the first, each after a wait since the end of the one before. */
export type RetryPolicy = Waits & {
  readonly limit: number;
  /** Only failures with one of these exit codes are retried. Absent: all are. */
  readonly exitCodes?: readonly number[];
  /** The largest part of a wait, from 0 to 1, by which it is shortened at random. */
  readonly jitter?: number;
};

/**
 * Repetitions of a step. Without `mode` it repeats until a repetition fails. With `mode`, the condition, else the exit
 * code, decides after each repetition, whether that succeeded or failed.
 */
export type RepeatPolicy = Waits & {
  readonly mode?: 'while' | 'until';
  readonly condition?: Precondition;
  readonly exitCodes?: readonly number[];
  /** Maximum number of repetitions, the first included. */
  readonly limit?: number;
};

/** A value that the person who approves a step gives; a variable of all later steps. */
export type ApprovalInput = {
  readonly name: string;
  readonly default: string;
  readonly rule: ParamRule;
  /** Not shown while it is typed, and masked wherever it appears. */
  readonly secret?: true;
};

/** A decision of a person after the work of a step and before its dependents. */
export type Approval = {
  /** Empty: none. */
  readonly prompt: Template;
  readonly inputs: readonly ApprovalInput[];
  /** Names of users who may answer; empty: all who may start the workflow. */
  readonly by: readonly string[];
  /** 0: no limit. */
  readonly timeoutMs: number;
  readonly onTimeout: 'reject' | 'approve';
};

/**
 * Runs a step once for each item. `items`: a text that is evaluated to items when the step starts, or a list of them.
 * `isMatrix`: the items are combinations, named after their values.
 */
export type FanOut = {
  readonly items: Template | readonly ItemValue[];
  /** What the text of the items is; absent: a text in any of the forms of `itemsInText`. */
  readonly from?: 'glob' | 'lines';
  readonly isMatrix?: true;
  /** Maximum number of instances running at once. */
  readonly maxConcurrent: number;
  /** The first failure cancels the other instances. */
  readonly failFast: boolean;
};

/** The value of an item: a scalar, or a map of scalars. */
export type ItemValue = ItemScalar | { readonly [field: string]: ItemScalar };
/** A value that has no parts. */
export type ItemScalar = string | number | boolean;

/**
 * The executor of a step or handler. `type` is a key of the executor registry; `config` was checked against its
 * schema.
 */
export type ExecutorSpec = { readonly type: string; readonly config: JsonObject };

/** How `wf` learns that a service is ready. `port` is a number, or a host with a number. */
export type Readiness =
  | { readonly kind: 'command'; readonly command: Template }
  | { readonly kind: 'port'; readonly port: Template }
  | { readonly kind: 'http'; readonly url: Template }
  /** A text in a line of the output, or after `re:` a pattern (RE2 syntax). */
  | { readonly kind: 'line'; readonly line: Template }
  /** The health check of its container succeeds. */
  | { readonly kind: 'healthy' };

/** A step that stays up while other steps use it. */
export type BackgroundStep = {
  /** Null: it is ready when it has started. */
  readonly readyWhen: Readiness | null;
  /** Time between two checks. */
  readonly intervalMs: number;
  /** Longest time from its start until it is ready. */
  readonly timeoutMs: number;
};

/**
 * A value that a step publishes: a literal text, or read after each attempt. The key `*` stands for all entries of the map
 * that is read.
 */
export type PublishedOutput = { readonly key: string; readonly value: { readonly literal: string } | OutputSource };

/** Where an output is read. `select`: a path in the decoded value, `.a[0]`. */
export type OutputSource = (
  | { readonly from: 'stdout' | 'stderr' }
  /** Relative to the directory of the step. */
  | { readonly from: 'file'; readonly path: Template }
  /** Variables are replaced after each attempt. */
  | { readonly from: 'text'; readonly text: Template }
  /** The entry of this name in the file `$WF_OUTPUT_FILE`. */
  | { readonly from: 'outputs' }
) & { readonly decode: 'text' | 'json' | 'yaml'; readonly select?: string };

/** The login of an image registry. `auth`: user name and password with a colon between them, in base64. */
export type RegistryAuth = { readonly username?: Template; readonly password?: Template; readonly auth?: Template };

/** A key of a step whose number may be one variable. */
export type NumberKey =
  | 'timeoutSec'
  | 'continueOn.exitCode'
  | `retryPolicy.${'limit' | 'intervalSec' | 'maxIntervalSec' | 'backoff' | 'jitter' | 'exitCode'}`
  | `repeatPolicy.${'limit' | 'intervalSec' | 'maxIntervalSec' | 'backoff' | 'exitCode'}`
  | 'parallel.maxConcurrent'
  | `service.${'intervalSec' | 'timeoutSec'}`
  | 'approval.timeoutSec';

/** Numbers of a workflow that a variable can give when a run starts. */
export type RunNumberKey = 'timeoutSec' | 'delaySec' | 'maxActiveSteps' | 'maxOutputSize';

/** Numbers of a notification that a variable can give when it is sent. */
export type NotifyNumberKey = `notify.${'lines' | 'timeoutSec'}`;

/** A number that a variable gives when the step, run or notification starts; until then it has the default. */
export type NumberText<Key extends string = NumberKey> = { readonly key: Key; readonly text: Template };

/** The value of a number that a variable gave. */
export type NumberValue<Key extends string = NumberKey> = { readonly key: Key; readonly value: number };

/** A lock that a step or a run holds, or `slots` of it; those who read share it. */
export type Lock = { readonly name: Template; readonly slots: number; readonly mode: 'write' | 'read' };

const LOCK_NAME = /^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,99}$/;

/** Why a text without variables is not the name of a lock; null if it is one. */
export function lockNameProblem(name: string): string | null {
  if (LOCK_NAME.test(name)) return null;
  if (name === '') return 'the name of a lock is empty';
  return `${JSON.stringify(name)} is not the name of a lock: at most 100 letters, digits, ".", "_", ":" and "-", not "." first`;
}

/**
 * Files that a step keeps after an attempt with that end: those that match a pattern, relative to the directory of the step.
 */
export type ArtifactRule = {
  readonly path: Template;
  readonly when: 'always' | 'success' | 'failure';
  /** Without a match, or if a match cannot be kept, the attempt fails. */
  readonly required?: true;
  /** The folder of the files within the artifacts of the step; absent: none. */
  readonly name?: string;
};

/** Files that an attempt finds below the directory of its step: all that the step or handler `from` has kept. */
export type PlacedFiles = { readonly from: string; readonly to: Template };

/** The most bytes and files that a run keeps: 1 GiB, unless its workflow says otherwise, and 10,000 files. */
export const MAX_ARTIFACT_BYTES = 2 ** 30;
export const MAX_ARTIFACTS = 10_000;

/**
 * When a step need not run: if its sources, its command and the variables that it mentions are those of its last success, and each
 * pattern of `generates` has a file. Patterns are relative to the directory of the step; one with `!` in front leaves files out.
 * `timestamp`: instead of their content, the times of the sources are compared with those of the generated files.
 */
export type UpToDateRule = {
  readonly sources: readonly Template[];
  readonly generates: readonly Template[];
  readonly method: 'checksum' | 'timestamp';
  /** Absent: no earlier success than the last one counts. */
  readonly cache?: CacheRule;
};

/**
 * What a step restores from an earlier success with the same inputs. `key`: a text that is one of these inputs. `paths`: patterns of
 * the files; absent: those of `generates`. `scope`: the successes of the same workflow file, or of all files of a home.
 */
export type CacheRule = {
  readonly key?: Template;
  readonly paths?: readonly Template[];
  readonly scope: 'file' | 'home';
};

/** The most sources of a step, and the most bytes of them that are read at once to compare them. */
export const MAX_SOURCES = 100_000;
export const MAX_HASHED_BYTES = 8 * 2 ** 30;

/** The locks of a step or a run; absent without any. `lockTimeoutMs`: how long it waits for them; absent: no limit. */
export type Locking = { readonly locks?: readonly Lock[]; readonly lockTimeoutMs?: number };

/**
 * When a run is late: `afterMs` from its start, or at `by`, a time of day such as `06:30` in the time zone of its schedule, the
 * first after its moment. `isQuiet`: no notification and no mail is sent.
 */
export type Lateness = { readonly afterMs?: number; readonly by?: string; readonly isQuiet?: true };

/** A node of the graph, or a handler. */
export type Step = Locking & {
  /** Unique in the workflow. Handlers are named `handlerOn.<kind>`. */
  readonly name: string;
  /** Absent without an `id` besides the name. */
  readonly id?: string;
  readonly description: string;
  /** The working directory, relative to the workflow's `dir`. Null: the workflow's `dir` itself. */
  readonly dir: Template | null;
  /**
   * A text is split into words or goes to the shell; a list is the words themselves. Other executors define their own
   * meaning.
   */
  readonly command: Template | readonly Template[] | null;
  readonly args: readonly Template[];
  readonly script: string | null;
  /** The shell of this step, with its options (`bash -e`). Null: the workflow's shell. */
  readonly shell: string | null;
  readonly executor: ExecutorSpec;
  /** Distinct names of the steps that must settle first, in the order of the file. */
  readonly depends: readonly string[];
  readonly preconditions: readonly Precondition[];
  readonly continueOn: Tolerance;
  readonly retry: RetryPolicy;
  readonly repeat: RepeatPolicy | null;
  readonly stdout: Template | null;
  readonly stderr: Template | null;
  /** Present: standard output and standard error have a log each. */
  readonly logOutput?: 'separate';
  /** The streams to whose files texts refer, as `${ID.stdout}`. */
  readonly namedStreams?: readonly ('stdout' | 'stderr')[];
  /** The variable that receives the trimmed standard output. */
  readonly output: string | null;
  /** Values for `${ID.output.KEY}`, in the place of a variable; absent without them. */
  readonly published?: readonly PublishedOutput[];
  /** Absent: the step keeps no files. Empty: only those that its program puts into `$WF_ARTIFACTS_DIR`. */
  readonly artifacts?: readonly ArtifactRule[];
  /** Absent: the attempts of the step find no files of other steps. */
  readonly placed?: readonly PlacedFiles[];
  /** Absent: the step runs whenever its turn comes. */
  readonly upToDate?: UpToDateRule;
  readonly env: readonly Assignment[];
  /** A signal name such as `SIGTERM`. */
  readonly signalOnStop: string;
  /** Limit of one attempt; 0: no limit. */
  readonly timeoutMs: number;
  /** Time from the start of the step, with all its attempts, after which it is late; absent: never. */
  readonly lateMs?: number;
  /** Time between a stop and a kill, if shorter than that of the workflow. */
  readonly graceMs?: number;
  readonly mailOn: { readonly failure: boolean; readonly success: boolean };
  /** True: background processes of the step outlive the run. */
  readonly leaveBackground: boolean;
  /** Absent: the step ends by itself. */
  readonly service?: BackgroundStep;
  readonly fanOut?: FanOut;
  /** The labels of the workers of an engine that may execute it, by their names; absent: any worker. */
  readonly workerSelector?: Readonly<Record<string, Template>>;
  /** Of an instance, which exists only in a run: the name of its fan-out. */
  readonly instanceOf?: string;
  readonly approval?: Approval;
  readonly numbers?: readonly NumberText[];
};

/**
 * One handler per outcome. `init` runs before the first step, `wait` beside the steps when one waits for approval, `exit`
 * always and last.
 */
export const handlerKinds = ['success', 'failure', 'cancel', 'exit', 'init', 'wait'] as const;

/** The kinds of handler. Their order is that of the nodes of a graph and of log files, so new ones come last. */
export type HandlerKind = (typeof handlerKinds)[number];

type LaterKind = 'init' | 'wait';

/** Mail settings for one outcome. */
export type MailSettings = {
  readonly from: Template;
  readonly to: readonly Template[];
  readonly prefix: string;
  readonly attachLogs: boolean;
  /** Patterns of the artifacts that are attached. */
  readonly attach?: readonly Template[];
};

/** The services that notifications are sent to. `webhook` is any address that takes JSON. */
export type NotificationService = 'slack' | 'teams' | 'discord' | 'ntfy' | 'webhook';

/**
 * The events of a run that notifications report. `recovery`: a success after a failed run of the same workflow; `waiting`:
 * a step waits for approval; `late`: the run or one of its steps is late.
 */
export type NotificationEvent = 'failure' | 'success' | 'cancel' | 'skipped' | 'waiting' | 'late' | 'recovery';

/** One notification: when it is sent, where, and its content. Null: the default. */
export type Notification = {
  readonly to: NotificationService;
  readonly url: Template;
  readonly on: readonly (NotificationEvent | 'always')[];
  readonly title: Template | null;
  readonly message: Template | null;
  /** The number of last lines shown of each failed step. */
  readonly lines: number;
  /** Limit of one try. */
  readonly timeoutMs: number;
  /** For `webhook`. */
  readonly method: Template;
  readonly headers: readonly Assignment[];
  /** JSON, in which values are escaped, or any other text. */
  readonly body: Template | null;
  /** The key of the signature. */
  readonly secret: Template | null;
  /** For `ntfy`. */
  readonly priority: Template | null;
  readonly tags: readonly Template[];
  readonly token: Template | null;
  /** For `webhook` and `discord`: patterns of the artifacts that are sent too. */
  readonly attach?: readonly Template[];
  readonly numbers?: readonly NumberText<NotifyNumberKey>[];
};

/** The mail server. */
export type SmtpSettings = {
  readonly host: Template;
  readonly port: Template;
  readonly username: Template | null;
  readonly password: Template | null;
};

/**
 * A value to be masked everywhere: the name of an env entry or parameter, or a value read from the environment or a
 * file.
 */
export type SecretSource = {
  readonly name: string;
  readonly env: string | null;
  readonly file: string | null;
};

/** When a daemon starts, stops and restarts the workflow. */
export type Schedule = {
  /**
   * Cron expressions, each of which may start with its own time zone (`CRON_TZ=Europe/Berlin`), and moments of single
   * starts, as ISO 8601 texts in UTC.
   */
  readonly start: readonly string[];
  readonly stop: readonly string[];
  readonly restart: readonly string[];
  /** Days without starts and restarts, as `2026-12-25` or, every year, `12-25`; absent if there are none. */
  readonly notOn?: readonly string[];
  /** IANA name of the time zone of expressions without their own; null: the zone of the machine. */
  readonly timeZone: string | null;
  /**
   * The action if a run is due while another run of the workflow is active: skip it, start it afterwards, start only
   * the last such run afterwards, or start it at once.
   */
  readonly overlap: 'skip' | 'queue' | 'latest' | 'all';
  /** The file says `overlap`, which then holds for `wf run` too. */
  readonly isOverlapGiven?: true;
  /** A start is left out if a run succeeded since the due time before. */
  readonly skipIfSuccessful?: true;
  /** Which of the runs missed while no daemon was running are made up for. */
  readonly catchup: 'none' | 'latest' | 'all';
  /** Maximum age of a missed run; null: unlimited. */
  readonly catchupWindowMs: number | null;
};

/** The schedule of a workflow without `schedule`. */
export const noSchedule: Schedule = {
  start: [],
  stop: [],
  restart: [],
  timeZone: null,
  overlap: 'skip',
  catchup: 'none',
  catchupWindowMs: null,
};

/** The restrictions for a start of the workflow. */
export type RunConfig = { readonly disableParamEdit: boolean; readonly disableRunIdEdit: boolean };

/** `limit` further runs after a failed one, each after a wait since its end. A daemon starts them. */
export type RunRetryPolicy = Waits & { readonly limit: number };

/** A workflow, ready to run. Its runs hold its locks. */
export type Workflow = Locking & {
  readonly name: string;
  /** Absolute path of the root file; null for standard input. */
  readonly file: string | null;
  /** Absolute path of the default working directory of steps. */
  readonly dir: string;
  readonly group: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly schedule: Schedule;
  readonly params: readonly ParamDefault[];
  /** The JSON Schema of the parameters together, which `params` come from; absent without one. */
  readonly paramSchema?: JsonObject;
  /** Absent: a start may choose everything. */
  readonly runConfig?: RunConfig;
  readonly retry?: RunRetryPolicy;
  readonly env: readonly Assignment[];
  /** In the order in which they are read, base first; absent if there are none. */
  readonly dotenv?: readonly DotenvFile[];
  readonly secrets: readonly SecretSource[];
  readonly preconditions: readonly Precondition[];
  /** In the order of the file; imported steps first, in the order of `imports`. */
  readonly steps: readonly Step[];
  /** Workflows stored by earlier versions have no `init` and no `wait`. */
  readonly handlers: { readonly [kind in Exclude<HandlerKind, LaterKind>]: Step | null } & {
    readonly [kind in LaterKind]?: Step | null;
  };
  readonly mailOn: {
    readonly failure: boolean;
    readonly success: boolean;
    readonly cancel: boolean;
    /** When a step waits for approval. */
    readonly wait?: true;
    /** When the run or one of its steps is late. */
    readonly late?: true;
  };
  readonly smtp: SmtpSettings | null;
  readonly errorMail: MailSettings | null;
  readonly infoMail: MailSettings | null;
  /** For steps that wait for approval; absent: `infoMail`. */
  readonly waitMail?: MailSettings;
  readonly notify?: readonly Notification[];
  readonly logDir: Template | null;
  /** Negative: forever. */
  readonly histRetentionDays: number;
  /** The number of runs kept, whatever their age; absent: `histRetentionDays` decides. */
  readonly histRetentionRuns?: number;
  /** Minimum time between the starts of two steps. */
  readonly delayMs: number;
  /** Maximum number of steps running at once; 0: no limit. */
  readonly maxActiveSteps: number;
  /** The queue in which a daemon or an engine puts its runs; absent: none. */
  readonly queue?: string;
  /** Maximum number of runs of this workflow that a daemon or an engine runs at once; absent: no limit. */
  readonly maxConcurrent?: number;
  /** Maximum size of an output, in bytes; absent for the default. */
  readonly maxOutputBytes?: number;
  /** The most bytes of the files that a run keeps; absent for the default. */
  readonly maxArtifactBytes?: number;
  /** How long after the end of a run its kept files stay; absent: as long as the run. */
  readonly artifactRetentionDays?: number;
  /** Limit of the whole run without its handlers; 0: no limit. */
  readonly timeoutMs: number;
  /** Absent: its runs are never late. */
  readonly late?: Lateness;
  readonly numbers?: readonly NumberText<RunNumberKey>[];
  readonly restartWaitMs: number;
  /** Time between stopping steps and killing them (`MaxCleanUpTimeSec`). */
  readonly graceMs: number;
  /** The shell with its options, `sh` by default. */
  readonly shell: string;
  /** The file names the shell, which then runs every command given as text; absent if it does not. */
  readonly namesShell?: true;
  /** Settings of the container that steps with `shared` in their `docker` executor share; absent if there is none. */
  readonly container?: JsonObject;
  /** Logins of image registries by host, or the text of a Docker configuration; absent if there are none. */
  readonly registryAuths?: Template | { readonly [host: string]: RegistryAuth };
  /** The workflows of the other documents of the file, by name, for `run`; absent if there are none. */
  readonly documents?: { readonly [name: string]: Workflow };
};

/** The name of a handler as a node of the run. No step may have such a name. */
export function handlerName(kind: HandlerKind): string {
  return `handlerOn.${kind}`;
}

/** The kind of handler with that node name; null for a step. */
export function handlerKind(name: string): HandlerKind | null {
  const kind = name.startsWith('handlerOn.') ? name.slice('handlerOn.'.length) : '';
  return handlerKinds.find((known) => known === kind) ?? null;
}

/** The names of all handlers that a workflow may have. */
export const handlerNames: readonly string[] = handlerKinds.map(handlerName);

/** All steps, followed by all handlers. */
export function allSteps({ steps, handlers }: Pick<Workflow, 'steps' | 'handlers'>): readonly Step[] {
  return [...steps, ...handlerKinds.flatMap((kind) => handlers[kind] ?? [])];
}
