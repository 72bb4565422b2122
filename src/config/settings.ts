import { resolve } from 'node:path';
import { lockNameProblem } from '#core/workflow.ts';
import { engineAddress, LOCAL_ENGINE } from '#system/engine-address.ts';

/** The type of a setting, and how its value is read from a flag, a variable (always text) or a file. */
export type Kind<T> = {
  /** For the reference: "whole number from 1". */
  readonly name: string;
  /**
   * The value, or a problem: the rest of a sentence that starts with the name of the setting. `base`: the directory that
   * relative paths are resolved against.
   */
  readonly read: (value: unknown, base: string) => { readonly value: T } | { readonly problem: string };
};

/** A kind whose values are those for which `read` returns something. */
export function kind<T>(name: string, problem: string, read: (value: unknown, base: string) => T | undefined): Kind<T> {
  return {
    name,
    read: (given, base) => {
      const value = read(given, base);
      return value === undefined ? { problem } : { value };
    },
  };
}

const spellings = new Map([
  ...['true', 'yes', 'on', '1'].map((word) => [word, true] as const),
  ...['false', 'no', 'off', '0'].map((word) => [word, false] as const),
]);

/** True or false, including the spellings of YAML 1.1. */
export const flag = kind('true or false', 'must be true or false', (value) =>
  spellings.get(String(value).toLowerCase()),
);

/** A number within inclusive limits. */
export function number(from: number, to = Number.MAX_SAFE_INTEGER): Kind<number> {
  return numeric('number', from, to);
}

/** A whole number within inclusive limits. */
export function wholeNumber(from: number, to = Number.MAX_SAFE_INTEGER): Kind<number> {
  return numeric('whole number', from, to);
}

function numeric(name: string, from: number, to: number): Kind<number> {
  const range = to === Number.MAX_SAFE_INTEGER ? `from ${from}` : `from ${from} to ${to}`;
  return kind(`${name} ${range}`, `must be a ${name} ${range}`, (value) => {
    const found = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
    const isWhole = name === 'number' || Number.isInteger(found);
    return typeof found === 'number' && found >= from && found <= to && isWhole ? found : undefined;
  });
}

/** A text that is not empty. */
export const text = kind('text', 'must be a text', textOf);

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

const ADDRESS = 'address that starts with http:// or https://';

/** An `http` or `https` address. */
export const webAddress = kind(ADDRESS, `must be an ${ADDRESS}`, (value) => {
  return typeof value === 'string' && /^https?:\/\/\S+$/.test(value) && URL.canParse(value) ? value : undefined;
});

const ENGINE = '`local` or `temporal://HOST:PORT[/NAMESPACE]`';

/** Where runs are executed. */
const engine = kind(ENGINE, `must be ${ENGINE.replaceAll('`', '')}`, (value) => {
  return typeof value === 'string' && (value === LOCAL_ENGINE || engineAddress(value) !== null) ? value : undefined;
});

const LOG_STORE = '`file:DIRECTORY`, or an address that starts with http:// or https://';

/** Where the logs of all machines are stored; a directory by its absolute path. */
const logStore = kind(LOG_STORE, `must be ${LOG_STORE.replaceAll('`', '')}`, (value) => {
  if (typeof value !== 'string') return undefined;
  const directory = /^file:(?:\/\/)?(\/.+)$/.exec(value)?.[1];
  if (directory !== undefined) return `file:${resolve(directory)}`;
  const isAddress = /^https?:\/\/[^\s?#]+$/.test(value) && URL.canParse(value);
  return isAddress && new URL(value).username === '' ? value.replace(/\/+$/, '') : undefined;
});

/** A file or directory, as an absolute path. */
const path = kind('path', 'must be a path', (value, base) => {
  const relative = textOf(value);
  return relative && resolve(base, relative);
});

/** One of several words. */
export function oneOf<const Word extends string>(words: readonly Word[]): Kind<Word> {
  const name = words.map((word) => `\`${word}\``).join(' or ');
  return kind(name, `must be ${words.join(' or ')}`, (value) => words.find((word) => word === value));
}

/** A list of words, separated by commas in a variable. */
export function listOf<const Word extends string>(words: readonly Word[]): Kind<readonly Word[]> {
  const name = `list of ${words.map((word) => `\`${word}\``).join(', ')}`;
  return kind(name, `may list ${words.join(', ')}`, (value) => {
    const list = asList(value);
    return list.every((word): word is Word => words.some((known) => known === word)) ? list : undefined;
  });
}

/** A list of texts, separated by commas in a variable. */
const texts = kind<readonly string[]>('list of texts', 'must be a list of texts', (value) => {
  const list = asList(value);
  return list.every((item) => typeof item === 'string') ? list : undefined;
});

/** The maximum number of concurrent runs of a queue. */
export type QueueLimit = { readonly name: string; readonly maxConcurrent: number };

/** A list of `{name, maxConcurrent}`, or of texts `name=2`. */
const queueLimits = kind<readonly QueueLimit[]>(
  'list of `{name, maxConcurrent}`',
  'must be a list such as [{name: db, maxConcurrent: 2}] or db=2',
  (value) => {
    const limits = asList(value).map(queueLimit);
    return limits.every((limit) => limit !== null) ? limits : undefined;
  },
);

function queueLimit(value: unknown): QueueLimit | null {
  const [, name, limit] = typeof value === 'string' ? (/^(.+)=(\d+)$/.exec(value) ?? []) : queueFields(value);
  const maxConcurrent = typeof limit === 'string' ? Number(limit) : limit;
  const fits = typeof maxConcurrent === 'number' && Number.isInteger(maxConcurrent) && maxConcurrent >= 1;
  return typeof name === 'string' && name.trim() !== '' && fits ? { name: name.trim(), maxConcurrent } : null;
}

function queueFields(value: unknown): readonly unknown[] {
  if (typeof value !== 'object' || value === null) return [];
  const { name, maxConcurrent, ...rest } = value as Record<string, unknown>;
  return Object.keys(rest).length === 0 ? [value, name, maxConcurrent] : [];
}

/** A lock with more than one slot, or that is taken at most `perMinute` times a minute. */
export type Pool = { readonly name: string; readonly slots: number; readonly perMinute?: number };

/** The most pools, and the most slots of one, as of a request in a file. */
const MAX_POOL = 10_000;

/** A list of `{name, slots, perMinute}`, or of texts `name=3`. */
const pools = kind<readonly Pool[]>(
  'list of `{name, slots, perMinute}`',
  'must be a list such as [{name: licences, slots: 3, perMinute: 60}] or licences=3, with different names of locks',
  (value) => {
    const list = asList(value).flatMap((item) => poolOf(item) ?? []);
    const areValid = list.length === asList(value).length && list.length <= MAX_POOL;
    return areValid && new Set(list.map(({ name }) => name)).size === list.length ? list : undefined;
  },
);

function poolOf(value: unknown): Pool | null {
  const [, text, count] = typeof value === 'string' ? (/^(.+)=(\d+)$/.exec(value.trim()) ?? []) : [];
  const fields = text === undefined ? value : { name: text, slots: Number(count) };
  if (typeof fields !== 'object' || fields === null) return null;
  const { name, slots = 1, perMinute, ...rest } = fields as Record<string, unknown>;
  const isCount = (number: unknown): number is number =>
    typeof number === 'number' && Number.isInteger(number) && number >= 1 && number <= MAX_POOL;
  if (Object.keys(rest).length > 0 || typeof name !== 'string' || lockNameProblem(name) !== null) return null;
  if (!isCount(slots) || (perMinute !== undefined && !isCount(perMinute))) return null;
  return { name, slots, ...(perMinute === undefined ? {} : { perMinute }) };
}

/** Without the empty items of a surplus comma. */
function asList(value: unknown): readonly unknown[] {
  const items: readonly unknown[] = Array.isArray(value) ? value : [value];
  return items
    .flatMap((item) => (typeof item === 'string' ? item.split(',').map((word) => word.trim()) : [item]))
    .filter((item) => item !== '');
}

/** The commands that use a setting: all, those that run workflows, `wf serve`, those that use a daemon or an engine. */
export type SettingUser =
  | 'every command'
  | 'runs'
  | 'wf serve'
  | 'clients'
  | 'wf serve and clients'
  | 'runs, wf worker and wf serve';

/** A setting: a flag, a variable or a key of a file. */
export type Setting<T> = {
  readonly kind: Kind<NonNullable<T>>;
  readonly fallback: T;
  readonly about: string;
  /** As shown in the help: `--port <number>`; null for a setting that must not be given on a command line. */
  readonly flag: string | null;
  readonly usedBy: SettingUser;
  /** Whether the `.wf.yaml` of a project may set it: only settings that can do no harm in an unknown project. */
  readonly inProject: boolean;
  /** A secret: shown only as set or not set, and never passed to a step. */
  readonly secret: boolean;
};

/** Makes rows of the table: the type, the default, the description, and the option if there is one. */
function rowsFor(usedBy: SettingUser, rules: Partial<Pick<Setting<unknown>, 'inProject' | 'secret'>> = {}) {
  return <T, const F extends T | null>(
    kind: Kind<T>,
    fallback: F,
    about: string,
    option: string | null = null,
  ): Setting<T | F> => ({
    kind: kind as Kind<NonNullable<T | F>>,
    fallback,
    about,
    flag: option,
    usedBy,
    inProject: false,
    secret: false,
    ...rules,
  });
}

const shared = rowsFor('every command', { inProject: true });
const run = rowsFor('runs', { inProject: true });
const own = rowsFor('runs');
const engines = rowsFor('runs, wf worker and wf serve');
const engineSecret = rowsFor('runs, wf worker and wf serve', { secret: true });
/** A project must not decide where commands, and with them logins, are sent. */
const client = rowsFor('clients');
const serve = rowsFor('wf serve');
const login = rowsFor('wf serve and clients');
const serveSecret = rowsFor('wf serve', { secret: true });
const sharedSecret = rowsFor('wf serve and clients', { secret: true });

/**
 * Every setting except those of the block `logForwarding`. The name is the key in a file; the variable is `WF_` and
 * the name in capitals. Flags, `wf config` and the reference are made from this table.
 */
export const settings = {
  dags: shared(path, null, 'the workflows directory', '--dags <dir>'),
  color: shared(flag, null, 'colours; by default, on a terminal', '--color'),
  reporter: run(texts, [], 'how progress is shown; by default, depending on standard output', '--reporter <kind>'),
  output: run(
    oneOf(['full', 'last', 'errors', 'none']),
    null,
    'how much output of a finished step stays on a terminal; by default up to 20 lines, otherwise the last 10',
    '--output <what>',
  ),
  logOutput: run(
    oneOf(['merged', 'separate']),
    'merged',
    'where the output of a step is stored, unless its file says so: merged, one log for standard output and standard error; separate, one log for each',
  ),
  shell: own(
    text,
    null,
    'the shell for scripts, and for commands with shell syntax, of files that name none; by default, sh',
  ),
  pools: own(
    pools,
    [],
    'the locks with more than one slot, or with a limit of how often they are taken a minute: `licences=3`, in a file `{name: licences, slots: 3, perMinute: 60}`',
  ),
  strict: run(
    flag,
    false,
    'failures that continueOn tolerates fail the run: its exit code, status, handlers and mails',
    '--strict',
  ),
  strictSelectors: run(
    flag,
    false,
    'a run without an engine fails if its file has a workerSelector; by default, it warns',
    '--strict-selectors',
  ),
  history: own(flag, true, 'whether runs are stored', '--no-history'),
  historyKeepRuns: own(
    wholeNumber(1),
    null,
    'the number of past runs kept per workflow; by default, all that histRetentionDays keeps',
  ),
  cacheMaxMiB: own(
    wholeNumber(0, 1_048_576),
    2048,
    'the size of the cache of results that steps restore, in MiB; what was used least recently is removed; 0: nothing is cached',
  ),
  engine: engines(
    engine,
    LOCAL_ENGINE,
    'where runs are executed: local, on this machine; temporal://HOST:PORT[/NAMESPACE], by workers of a Temporal server; temporal: finds it like all Temporal programs',
    '--engine <url>',
  ),
  engineKeyFile: engines(
    path,
    null,
    'a file with a key of 32 bytes that encrypts what the engine stores',
    '--engine-key-file <file>',
  ),
  engineLogs: engines(
    logStore,
    null,
    'where workers store logs: file:/shared/logs, a directory of all machines; https://ops.example.com, a daemon',
    '--engine-logs <url>',
  ),
  engineLogsToken: engineSecret(
    text,
    null,
    'the token with which workers store logs in a daemon, which has the same one; at least 16 characters',
  ),
  engineLogsTokenFile: engines(path, null, 'a file that contains the token with which workers store logs'),
  lostAfter: own(
    wholeNumber(2, 3600),
    15,
    'the seconds after which a silent worker of an engine counts as lost, with its steps',
    '--lost-after <seconds>',
  ),
  publicUrl: own(
    webAddress,
    null,
    'the address of the daemon for browsers, such as https://ops.example.com/wf; notifications link to runs there',
  ),
  server: client(
    webAddress,
    null,
    'the daemon whose runs commands use, such as https://ops.example.com; by default, they use those of this machine',
    '--server <url>',
  ),
  serverCa: client(
    path,
    null,
    'certificates (PEM) of trusted authorities for the daemon, in addition to those that Node trusts',
    '--server-ca <file>',
  ),
  host: serve(text, '127.0.0.1', 'the address to listen on', '--host <address>'),
  port: serve(wholeNumber(0, 65_535), 8080, 'the port to listen on; 0: any free port', '--port <number>'),
  basePath: serve(text, '', 'the prefix of every path, for a daemon behind a proxy: /wf', '--base-path <path>'),
  maxConcurrentRuns: serve(
    wholeNumber(1, 10_000),
    16,
    'the maximum number of active runs; further runs wait',
    '--max-concurrent-runs <count>',
  ),
  maxQueuedRuns: serve(
    wholeNumber(0, 1_000_000),
    1000,
    'the maximum number of waiting runs; further runs are refused',
    '--max-queued-runs <count>',
  ),
  queues: serve(
    queueLimits,
    [],
    'the queues with more than one run at once, each with its limit: `db=2`, in a file `{name: db, maxConcurrent: 2}`',
    '--queues <list>',
  ),
  onShutdown: serve(
    oneOf(['detach', 'stop', 'wait']),
    'detach',
    'what happens to runs when the daemon exits: they continue, are stopped, or the daemon waits for them',
    '--on-shutdown <what>',
  ),
  requireLogin: serve(
    flag,
    false,
    'requires a login; if none is set, the first start creates a token in `daemon/token`',
    '--require-login',
  ),
  token: sharedSecret(text, null, 'the token for full access'),
  tokenFile: login(path, null, 'a file that contains the token', '--token-file <file>'),
  readOnlyToken: serveSecret(text, null, 'the token for read-only access'),
  readOnlyTokenFile: serve(
    path,
    null,
    'a file that contains the token for read-only access',
    '--read-only-token-file <file>',
  ),
  username: login(text, null, 'the user name of the basic login', '--username <name>'),
  password: sharedSecret(text, null, 'the password of the basic login'),
  passwordFile: login(path, null, 'a file that contains the password of the basic login', '--password-file <file>'),
  tlsCert: serve(path, null, 'the certificate (PEM) for https; requires the key', '--tls-cert <file>'),
  tlsKey: serve(path, null, 'the key (PEM) of the certificate', '--tls-key <file>'),
  allowedHosts: serve(
    texts,
    [],
    'further names of the daemon that clients may use in their Host header',
    '--allowed-hosts <list>',
  ),
  trustedProxies: serve(
    texts,
    [],
    'addresses or networks of reverse proxies whose X-Forwarded-For and X-Forwarded-Proto describe the client: 10.0.0.0/8',
    '--trusted-proxies <list>',
  ),
  corsOrigins: serve(
    texts,
    [],
    'origins whose pages may use the API: https://ops.example.com',
    '--cors-origins <list>',
  ),
} satisfies { readonly [key: string]: Setting<unknown> };

/** The name of a setting. */
export type SettingKey = keyof typeof settings;

/** The value of a setting. */
export type SettingValue<K extends SettingKey> = (typeof settings)[K] extends Setting<infer T> ? T : never;

/** Settings of a login: setting one to an empty value is an error, since it would disable the login. */
export const loginKeys: ReadonlySet<SettingKey> = new Set<SettingKey>([
  'token',
  'tokenFile',
  'readOnlyToken',
  'readOnlyTokenFile',
  'username',
  'password',
  'passwordFile',
  'engineLogsToken',
  'engineLogsTokenFile',
]);

/** The variable of a setting: `maxConcurrentRuns` is `WF_MAX_CONCURRENT_RUNS`. */
export function variableOf(key: string): string {
  const words = key.replace('MiB', 'Mib').replace(/([a-z0-9])([A-Z])/g, '$1_$2');
  return `WF_${words.toUpperCase()}`;
}

/** Variables that steps must not see: secrets, and the address of the caller's daemon, which may contain a login. */
export const secretVariables: readonly string[] = Object.entries(settings)
  .filter(([key, setting]) => setting.secret || key === 'server')
  .map(([key]) => variableOf(key));
