import type {
  Assignment,
  HandlerKind,
  Json,
  JsonObject,
  NotificationService,
  RegistryAuth,
  RunConfig,
} from '#core/workflow.ts';
import type { Path } from './diagnostic.ts';

/** Optional keys with values of one type. */
type Keys<K extends string, T> = { readonly [key in K]?: T };
/** A text, or a list of texts. */
export type TextOrList = string | readonly string[];
type TextMap = { readonly [name: string]: string };
/** `env`, and `params` of a step: texts, single-entry maps or one map. */
export type NamedTexts = TextMap | readonly (string | TextMap)[];
/** `params` of a workflow; null stands for a parameter without a value. */
export type OpenTexts = OpenTextMap | readonly (string | OpenTextMap)[];
/** A map of texts, in which null stands for a missing value; lists are for the `enum` of a declared parameter. */
export type OpenTextMap = { readonly [name: string]: string | null | readonly string[] };
export type RawCondition = string | RawConditionMap;
type RawConditionMap = Keys<'condition' | 'expected', string> & Keys<'negate', boolean>;
export type RawConditions = RawCondition | readonly RawCondition[];
type RawExecutor = string | { readonly type?: string; readonly config?: JsonObject };

/** A number, or a text that is one variable. */
export type RawNumber = number | string;

export type RawTolerance = Keys<'failure' | 'skipped' | 'markSuccess', boolean> & {
  readonly exitCode?: RawNumber | readonly RawNumber[];
  readonly output?: TextOrList;
};

/** The keys of a policy that repeats something after waits. */
export type RawWaits = Keys<'limit' | 'intervalSec' | 'maxIntervalSec', RawNumber> & {
  readonly backoff?: boolean | RawNumber;
  readonly exitCode?: RawNumber | readonly RawNumber[];
};
export type RawRetry = RawWaits & { readonly jitter?: RawNumber };
export type RawRepeat = RawWaits & RawConditionMap & { readonly repeat?: boolean | 'while' | 'until' };

/** A container to create, or to run in; a text is the name of a running one. */
export type RawContainer = Keys<
  'image' | 'exec' | 'name' | 'platform' | 'user' | 'workingDir' | 'network' | 'restartPolicy' | 'logPattern',
  string
> &
  Keys<'volumes' | 'ports' | 'command', readonly string[]> & {
    readonly pullPolicy?: 'missing' | 'always' | 'never' | boolean;
    readonly env?: NamedTexts;
    readonly keepContainer?: boolean;
    readonly startup?: 'keepalive' | 'entrypoint' | 'command';
    readonly waitFor?: 'running' | 'healthy';
    readonly healthcheck?: Keys<'interval' | 'timeout' | 'startPeriod', string> & {
      readonly test?: TextOrList;
      readonly retries?: number;
    };
    readonly shell?: TextOrList;
  };

/** `cache` as a map. */
export type RawCache = Keys<'key', string> & { readonly paths?: TextOrList; readonly scope?: 'file' | 'home' };

/** `service` as a map. */
export type RawService = Keys<'intervalSec' | 'timeoutSec', RawNumber> & {
  readonly readyWhen?: Keys<'command' | 'port' | 'http' | 'line', string> & { readonly healthy?: boolean };
};

/** A scalar as written in the file; deeper values are passed on as JSON. */
export type RawItem = Json;
/** The axes of a matrix, and its `exclude` and `include`. */
export type RawMatrix = { readonly [axis: string]: readonly Json[] } & {
  readonly exclude?: readonly JsonObject[];
  readonly include?: readonly JsonObject[];
};
/** `parallel` as a map. */
export type RawFanOut = {
  readonly items?: string | readonly RawItem[];
  readonly matrix?: RawMatrix;
  readonly glob?: TextOrList;
  readonly lines?: string;
  readonly maxConcurrent?: RawNumber;
  readonly failFast?: boolean;
};

/** A lock, or its name. */
export type RawLock = string | (Keys<'name', string> & Keys<'slots', number> & { readonly mode?: 'write' | 'read' });
/** `locks` and their time limit. */
export type RawLocks = { readonly locks?: string | readonly RawLock[] } & Keys<'lockTimeoutSec', number>;

/** Labels that a worker needs, or `local`. */
export type RawSelector = string | TextMap;

/** Files to keep, or their pattern; with `from`, files of another step to place. */
export type RawArtifact =
  | string
  | (Keys<'path' | 'name' | 'from' | 'to', string> &
      Keys<'required', boolean> & { readonly when?: 'always' | 'success' | 'failure' });

/** `late` of a workflow. */
export type RawLateness = string | (Keys<'after' | 'by', string> & { readonly warn?: 'only' });

/** An entry of `outputs`. */
export type RawDeclaredOutput = { readonly name?: string; readonly type?: 'string' | 'json' };

/** The common keys of steps and handlers; checked against the schema, no default filled in. */
export type RawAction = Keys<
  'description' | 'dir' | 'script' | 'shell' | 'stdout' | 'stderr' | 'signalOnStop' | 'run',
  string
> &
  RawLocks &
  Keys<'mailOnError' | 'leaveBackground', boolean> & {
    readonly command?: TextOrList;
    readonly args?: readonly string[];
    readonly preconditions?: RawConditions;
    readonly continueOn?: string | RawTolerance;
    readonly retryPolicy?: RawRetry;
    readonly repeatPolicy?: RawRepeat;
    readonly logOutput?: LogOutput;
    readonly output?: string | JsonObject;
    readonly outputs?: readonly RawDeclaredOutput[];
    readonly artifacts?: RawArtifact | readonly RawArtifact[];
    readonly sources?: TextOrList;
    readonly generates?: TextOrList;
    readonly method?: 'checksum' | 'timestamp';
    readonly cache?: boolean | RawCache;
    readonly workerSelector?: RawSelector;
    readonly executor?: RawExecutor;
    readonly container?: string | RawContainer;
    readonly service?: boolean | RawService;
    readonly mailOn?: Keys<'failure' | 'success', boolean>;
    readonly env?: NamedTexts;
    readonly timeoutSec?: RawNumber;
    readonly late?: string;
    readonly call?: { readonly function?: string; readonly args?: TextMap };
    readonly params?: string | NamedTexts;
    /** Codes of warnings. */
    readonly 'x-ignore'?: TextOrList;
    /** Not of handlers. */
    readonly approval?: boolean | RawApproval;
  };

/** The keys that steps have besides those of `Action`. */
export type RawDefaults = Pick<
  RawAction,
  'retryPolicy' | 'continueOn' | 'repeatPolicy' | 'timeoutSec' | 'mailOnError'
> &
  Pick<RawAction, 'signalOnStop' | 'logOutput' | 'env' | 'preconditions'>;

/** A step as written in the file. */
export type RawStep = RawAction &
  Keys<'name' | 'id', string> &
  Keys<'depends', TextOrList> & {
    readonly parallel?: string | readonly RawItem[] | RawFanOut;
    readonly matrix?: RawMatrix;
  };

/** `by` and `input` may be one entry; an entry of `input` is a name or declares a value as in `params`. */
export type RawApproval = Keys<'required' | 'by', TextOrList> & {
  readonly prompt?: string;
  readonly input?: string | readonly (string | OpenTextMap)[];
  readonly timeoutSec?: RawNumber;
  readonly onTimeout?: 'reject' | 'approve';
};

export type RawFunction = Keys<'name' | 'script', string> & Keys<'params' | 'command', TextOrList>;

export type RawMail = Keys<'from' | 'prefix', string> & {
  readonly to?: TextOrList;
  readonly attachLogs?: boolean;
  readonly attach?: TextOrList;
};

export type RawNotification = Keys<'url' | 'title' | 'message' | 'method' | 'secret' | 'priority' | 'token', string> &
  Keys<'on' | 'tags' | 'attach', TextOrList> &
  Keys<'lines' | 'timeoutSec', RawNumber> & {
    readonly to?: NotificationService;
    readonly headers?: TextMap;
    readonly body?: string | JsonObject;
  };

export type RawSecret = string | Keys<'name' | 'env' | 'file', string>;

export type RawDotenv = string | ({ readonly path?: string } & Keys<'required' | 'secret', boolean>);

/** A cron expression, or the same in the words of Dagu 2; `kind: at` is a single moment. */
export type RawScheduleEntry =
  | string
  | { readonly kind?: 'cron' | 'at'; readonly expression?: string; readonly at?: string };

type RawScheduleEntries = RawScheduleEntry | readonly RawScheduleEntry[];

export type RawSchedule = RawScheduleEntries | Keys<'start' | 'stop' | 'restart', RawScheduleEntries>;

/** Whether the two streams of a step have one log, or one each. */
type LogOutput = 'merged' | 'separate';

/** The settings that apply to workflows without such a key. */
export type Presets = {
  readonly logOutput: LogOutput;
  /** Runs what needs a shell; null: `sh`. */
  readonly shell: string | null;
};

/** A file checked against the schema: documented spelling, correct types, every key optional. */
export type RawWorkflow = Keys<'name' | 'description' | 'group' | 'timezone' | 'catchupWindow', string> &
  Keys<'logDir' | 'queue' | 'shell' | 'workingDir', string> &
  // `x-ignore`: codes of warnings.
  Keys<'tags' | 'imports' | 'notOn' | 'x-ignore', TextOrList> &
  Keys<'histRetentionDays' | 'histRetentionRuns' | 'maxActiveRuns' | 'maxConcurrent', number> &
  Keys<'restartWaitSec' | 'MaxCleanUpTimeSec', number> &
  Keys<'delaySec' | 'maxActiveSteps' | 'maxOutputSize' | 'timeoutSec', RawNumber> &
  Keys<'errorMail' | 'infoMail' | 'waitMail', RawMail> &
  RawLocks & {
    readonly labels?: TextOrList | TextMap;
    readonly workerSelector?: RawSelector;
    readonly type?: 'graph' | 'chain';
    readonly params?: string | OpenTexts;
    readonly runConfig?: Partial<RunConfig>;
    readonly env?: NamedTexts;
    readonly dotenv?: RawDotenv | readonly RawDotenv[];
    readonly secrets?: RawSecret | readonly RawSecret[];
    readonly preconditions?: RawConditions;
    readonly defaults?: RawDefaults;
    /** Null stands for an entry that is not a step. */
    readonly steps?: readonly (RawStep | null)[] | { readonly [name: string]: RawStep | null };
    readonly handlerOn?: { readonly [kind in HandlerKind]?: RawAction };
    readonly mailOn?: Keys<'failure' | 'success' | 'cancel' | 'wait' | 'late', boolean>;
    readonly late?: RawLateness;
    readonly smtp?: Keys<'host' | 'port' | 'username' | 'password', string>;
    readonly notify?: RawNotification | readonly RawNotification[];
    readonly functions?: readonly RawFunction[];
    readonly schedule?: RawSchedule;
    readonly overlap?: 'skip' | 'queue' | 'latest' | 'all';
    readonly skipIfSuccessful?: boolean;
    readonly retryPolicy?: Omit<RawWaits, 'exitCode'>;
    readonly catchup?: 'none' | 'latest' | 'all';
    readonly logOutput?: LogOutput;
    /** Shared by the steps that name no executor or container of their own. */
    readonly container?: string | RawContainer;
    readonly artifacts?: Keys<'maxMiB' | 'retentionDays', number>;
    readonly registryAuths?: string | { readonly [host: string]: string | RegistryAuth };
  };

/** Converts a value that may be given alone or as a list to a list. */
export function asList<T>(value: T | readonly T[] | undefined): readonly T[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value as T];
}

/** The entries of a value that may be given alone or as a list, each with its path. */
export function entriesAt<T>(value: T | readonly T[] | undefined, path: Path): { path: Path; entry: T }[] {
  return asList<T>(value).map((entry, index) => ({ path: Array.isArray(value) ? [...path, index] : path, entry }));
}

/** Every text within a value that contains `part`, with its path. */
export function textsIn(value: unknown, path: Path, part = ''): { path: Path; text: string }[] {
  if (typeof value === 'string') return value.includes(part) ? [{ path, text: value }] : [];
  if (typeof value !== 'object' || value === null) return [];
  const isList = Array.isArray(value);
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, [...path, isList ? Number(key) : key], part));
}

/** Whether a value of several forms is a list. */
export function isList<T, U>(value: readonly T[] | U): value is readonly T[] {
  return Array.isArray(value);
}

/** The type of executor that a step or handler names or implies. */
export function executorType(raw: RawAction): string {
  return raw.container === undefined ? (executorOf(raw).type ?? 'command') : 'docker';
}

/** The `executor` of a step or handler as a map, of which a text is the type. */
export function executorOf({ executor = {} }: RawAction): Exclude<RawExecutor, string> {
  return typeof executor === 'string' ? { type: executor } : executor;
}

/** The entries of a list, or of a text with commas, trimmed and without empty ones. */
export function commaList(value: TextOrList | undefined): string[] {
  const list = typeof value === 'string' ? value.split(',') : (value ?? []);
  return list.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

/** Whether a value is a map. */
export function isJsonObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A valid variable name in programs and shells. `__proto__` is excluded: no map of names and values can hold it. */
export const VARIABLE_NAME = /^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/;

/**
 * Variables that control shells, the loader or wf: a step must not set them for later steps. `ENV`, `DOCKER_HOST` and
 * `GIT_COMMIT` are not included: outputs often have these names.
 */
export const STEERING_NAME =
  /^(?:PATH|IFS|HOME|CDPATH|SHELLOPTS|BASHOPTS|PS4|PROMPT_COMMAND|MAKEFLAGS|TAR_OPTIONS|BASH_ENV|NODE_OPTIONS|(?:LD|DYLD|WF)_\w*)$/;

/** An entry of `env`, and its path within `env`; `isBare`: a text without `=`, whose value is empty. */
type LocatedAssignment = Assignment & { readonly path: Path; readonly isBare: boolean };

/** The entries of `env` in order, in any of its forms. */
export function assignments(env: NamedTexts | undefined): LocatedAssignment[] {
  if (env === undefined) return [];
  if (!Array.isArray(env)) return ofMap(env as { [name: string]: string }, []);
  return env.flatMap((entry: string | { [name: string]: string }, index) =>
    typeof entry === 'string' ? [ofText(entry, index)] : ofMap(entry, [index]),
  );
}

function ofMap(map: { readonly [name: string]: string }, path: Path): LocatedAssignment[] {
  return Object.entries(map).map(([name, value]) => ({ name, value, path: [...path, name], isBare: false }));
}

function ofText(text: string, index: number): LocatedAssignment {
  const at = text.indexOf('=');
  const isBare = at === -1;
  const name = isBare ? text : text.slice(0, at);
  return { name: name.trim(), value: isBare ? '' : text.slice(at + 1), path: [index], isBare };
}

/** The name in `NAME`, `$NAME` or `${NAME}`; null if there is none. */
export function variableName(text: string): string | null {
  const name = /^\$\{(.*)\}$/.exec(text)?.[1] ?? text.replace(/^\$/, '');
  return VARIABLE_NAME.test(name) ? name : null;
}

/** The names that some `env` set. */
export function envNames(envs: readonly (NamedTexts | undefined)[]): string[] {
  return envs.flatMap(assignments).map(({ name }) => name);
}

/** The names of the secrets of a workflow. */
export function secretNames({ secrets }: RawWorkflow): string[] {
  return asList<RawSecret>(secrets).flatMap((secret) => (typeof secret === 'string' ? secret : (secret.name ?? [])));
}

/** The variable that `output` names; null without one. */
export function outputName({ output }: { readonly output?: unknown }): string | null {
  return typeof output === 'string' ? output.replace(/^\$?\{?|\}$/g, '') : null;
}
