import { resolve } from 'node:path';
import { shellCodeIndex } from '#core/words/shell-launch.ts';
import { withoutPaths } from '#core/words/shell-paths.ts';
import { expandWords, parseCommand } from '#core/words/words.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { expandTexts } from '../tool.ts';
import { DockerProblem } from './docker-daemon.ts';

/** Settings that are not texts in Docker's API. A variable can still provide them (`memory: $LIMIT`). */
const truths = names(`
  argsEscaped attachStderr attachStdin attachStdout init networkDisabled oomKillDisable openStdin privileged
  publishAllPorts readonlyRootfs stdinOnce tty`);
const wholeNumbers = names(`
  blkioWeight cpuCount cpuPercent cpuPeriod cpuQuota cpuRealtimePeriod cpuRealtimeRuntime cpuShares ioMaximumBandwidth
  ioMaximumIOps memorySwappiness nanoCpus oomScoreAdj pidsLimit stopTimeout`);
const sizes = names('kernelMemory kernelMemoryTCP memory memoryReservation memorySwap shmSize');

const oddNames: { readonly [name: string]: string } = {
  ioMaximumBandwidth: 'IOMaximumBandwidth',
  ioMaximumIOps: 'IOMaximumIOps',
  utsMode: 'UTSMode',
};

/** The name of a setting in Docker's API. */
function apiName(name: string): string {
  return oddNames[name] ?? name.charAt(0).toUpperCase() + name.slice(1);
}

/** Converts a setting to the value in Docker's API: sizes in bytes, also given as `512m`. Throws a `DockerProblem`. */
export function settingValue(name: string, value: Json): Json {
  if (typeof value !== 'string') return value;
  if (truths.has(name)) return truth(name, value);
  if (sizes.has(name)) return bytes(name, value);
  if (!wholeNumbers.has(name)) return value;
  if (/^-?\d+$/.test(value)) return Number(value);
  throw new DockerProblem(`"${name}" is "${value}", which is not a whole number`);
}

function truth(name: string, value: string): boolean {
  if (/^(true|yes|on|1)$/i.test(value)) return true;
  if (/^(false|no|off|0|)$/i.test(value)) return false;
  throw new DockerProblem(`"${name}" is "${value}", which is neither true nor false`);
}

/** -1 removes a limit. */
function bytes(name: string, value: string): number {
  const [, number, unit = ''] = /^(-1|\d+(?:\.\d+)?)\s*(?:([kmgt])(?:i?b)?|b)?$/i.exec(value.trim()) ?? [];
  if (number === undefined) throw new DockerProblem(`"${name}" is "${value}", which is not a size such as 512m`);
  return Math.floor(Number(number) * 1024 ** ' kmgt'.indexOf(unit.toLowerCase() || ' '));
}

function names(text: string): ReadonlySet<string> {
  return new Set(text.trim().split(/\s+/));
}

/** A container of the step's own. */
export type ContainerSettings = {
  readonly kind: 'container';
  readonly image: string;
  readonly pull: 'missing' | 'always' | 'never';
  readonly platform: string | null;
  readonly name: string | null;
  /** Keep the container if it ends by itself. */
  readonly isKept: boolean;
  /** Null: that of the image. */
  readonly entrypoint: readonly string[] | null;
  readonly env: Variables;
  readonly shell: CommandShell;
  /** Further fields of `Config`, `HostConfig` and `NetworkingConfig` in the API. */
  readonly container: JsonObject;
  readonly host: JsonObject;
  readonly network: JsonObject;
};

/** A command in a running container. */
export type ExecSettings = {
  readonly kind: 'exec';
  readonly container: string;
  readonly env: Variables;
  readonly hasTerminal: boolean;
  readonly shell: CommandShell;
  readonly waitMs: number;
  readonly image: string | null;
  readonly isShared: boolean;
  /** Further fields of the API's `ExecConfig`. */
  readonly exec: JsonObject;
};

/** The words before each command, which is passed as one text; null: commands run as on this machine. */
export type CommandShell = readonly string[] | null;

/** Values by name; null removes a variable of the image. */
export type Variables = Readonly<Record<string, string | null>>;

/** The context for evaluating the settings of a container. */
type SettingsScope = Pick<Attempt, 'expand' | 'scope' | 'env' | 'cwd'>;

/** Expands a checked `config` and translates every setting to its name in the API. Throws a `DockerProblem`. */
export function readSettings(config: JsonObject, attempt: SettingsScope): ContainerSettings | ExecSettings {
  // Before variables are expanded: their values are never split.
  const entrypoint = readEntrypoint(mapAt(config, 'container')['entrypoint'], attempt);
  const { expand } = attempt;
  // The keys of maps, too: paths, labels.
  const { image = '', containerName = '', ...rest } = expandTexts(config, expand, expand) as JsonObject;
  const name = checkedName('a container', String(containerName), CONTAINER_PATTERN);
  // It says so, or names no image.
  const isExec = (config['exec'] ?? false) !== false || config['image'] === undefined;
  if (isExec) return readExec(rest, name);
  if (image === '') throw new DockerProblem('"image" is empty');
  const { env, cmd, entrypoint: _, ...container } = mapAt(rest, 'container');
  const { autoRemove, resources = {}, ...host } = mapAt(rest, 'host');
  const ports = portsOf(rest);
  const pull = typeof rest['pull'] === 'boolean' ? (rest['pull'] ? 'always' : 'never') : rest['pull'];
  return {
    kind: 'container',
    image: checkedName('an image', String(image), IMAGE_PATTERN),
    pull: pull === 'always' || pull === 'never' ? pull : 'missing',
    platform: textOrNull(rest['platform']),
    name: name || null,
    isKept: (rest['autoRemove'] ?? autoRemove) === false,
    entrypoint,
    env: readVariables(env),
    shell: readShell(rest),
    container: toApi({
      ...container,
      ...(cmd === undefined ? {} : { cmd: listOf(mapAt(config, 'container')['cmd'] ?? [], attempt) }),
      ...(ports.length === 0 ? {} : { exposedPorts: Object.fromEntries(ports.map(({ inside }) => [inside, {}])) }),
    }),
    host: toApi({ ...withBinds(host, attempt, rest['fileDir']), ...published(ports), ...resourcesOf(resources) }),
    network: toApi(mapAt(rest, 'network')),
  };
}

/** The name becomes part of a URL, so it is validated. */
function checkedName(kind: string, name: string, pattern: RegExp): string {
  if (name === '' || pattern.test(name)) return name;
  throw new DockerProblem(`${JSON.stringify(name)} cannot be the name of ${kind}`);
}

/** Registry and path, tag, digest. Source: the grammar of the distribution project's package "reference". */
const IMAGE_PATTERN =
  /^(\[[0-9a-f:]+\]|[a-z0-9][\w.-]*)(:\d+(?=\/))?(\/[a-z0-9][\w.-]*)*(:\w[\w.-]*)?(@[\w+.-]+:[0-9a-f]+)?$/i;
const CONTAINER_PATTERN = /^\w[\w.-]*$/;

function readExec(config: JsonObject, container: string): ExecSettings {
  if (container === '') throw new DockerProblem('"containerName" is empty');
  const { env, tty, ...exec } = mapAt(config, 'exec');
  return {
    kind: 'exec',
    container,
    env: readVariables(env),
    hasTerminal: settingValue('tty', tty ?? false) === true,
    shell: readShell(config),
    waitMs: Number(config['waitSec'] ?? 0) * 1000,
    image: null,
    isShared: false,
    exec: toApi(exec),
  };
}

function toApi(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [apiName(name), settingValue(name, value)]),
  );
}

function readEntrypoint(entrypoint: Json | undefined, { scope, expand }: SettingsScope): readonly string[] | null {
  if (entrypoint === undefined) return null;
  if (typeof entrypoint !== 'string') return listOf(entrypoint, { scope, expand });
  const parsed = parseCommand(entrypoint);
  if (parsed.kind === 'words') return expandWords(parsed.words, scope);
  throw new DockerProblem(`the entrypoint ${JSON.stringify(entrypoint)} has shell syntax: give it as a list of words`);
}

/** The words of a list, with the variables in the code of a shell left to that shell. */
function listOf(value: Json, { scope, expand }: Pick<SettingsScope, 'scope' | 'expand'>): readonly string[] {
  const list = words(value);
  const index = shellCodeIndex(list);
  const { code, env } = withoutPaths(list[index] ?? '', scope);
  if (Object.keys(env).length > 0)
    throw new DockerProblem('a part of a JSON value in the code of a shell: write the code as "command"');
  return list.map((word, at) => (at === index ? code : expand(word)));
}

function words(value: Json): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** `NAME=value` texts, maps, or a single map, the same forms as `env`. */
function readVariables(env: Json | undefined): Variables {
  const entries = Array.isArray(env) ? env : [env ?? {}];
  const variables: Record<string, string | null> = {};
  for (const entry of entries as Json[]) {
    if (typeof entry === 'object' && entry !== null) {
      for (const [name, value] of Object.entries(entry)) variables[name] = String(value ?? '');
    } else {
      const [, name = '', value] = /^([^=]*)(?:=([\s\S]*))?$/.exec(String(entry)) ?? [];
      variables[name] = value ?? null;
    }
  }
  return variables;
}

/** Resolves relative and home directory sources for the step: Docker accepts only absolute ones. */
function withBinds(host: JsonObject, { cwd, env }: SettingsScope, fileDir: Json | undefined): JsonObject {
  if (!Array.isArray(host['binds'])) return host;
  const binds = host['binds'].map((bind: Json) => {
    const [source = '', ...rest] = String(bind).split(':');
    if (/^~(?=\/|$)/.test(source)) return [`${env['HOME'] ?? ''}${source.slice(1)}`, ...rest].join(':');
    const from = textOrNull(fileDir) ?? cwd;
    return /^\.\.?$|^[^/].*\//.test(source) ? [resolve(from, source), ...rest].join(':') : String(bind);
  });
  return { ...host, binds };
}

function readShell({ shell }: JsonObject): CommandShell {
  return shell === undefined ? null : words(shell);
}

/** A published port: `[[ADDRESS:]HOST_PORT:]PORT[/PROTOCOL]`. */
type Port = { readonly inside: string; readonly binding: { readonly HostIp: string; readonly HostPort: string } };

/** Only this machine can connect, unless the port names an address. */
function portsOf({ ports = [] }: JsonObject): readonly Port[] {
  return (ports as readonly Json[]).map((port) => {
    const [, address = '127.0.0.1', HostPort = '', inside = '', protocol = 'tcp'] =
      /^(?:(?:(\d+(?:\.\d+){3}|\[[\da-fA-F:.]+\]):)?(\d*):)?(\d+)(?:\/(\w+))?$/.exec(String(port)) ?? [];
    if (inside === '') throw new DockerProblem(`"ports" has "${String(port)}", which is not a port such as 8080:80`);
    return { inside: `${inside}/${protocol}`, binding: { HostIp: address.replace(/[[\]]/g, ''), HostPort } };
  });
}

function published(ports: readonly Port[]): JsonObject {
  const bindings: Record<string, Json[]> = {};
  for (const { inside, binding } of ports) bindings[inside] = [...(bindings[inside] ?? []), binding];
  return ports.length === 0 ? {} : { portBindings: bindings };
}

/** Docker checks the keys, so they are passed on unchanged. */
function resourcesOf(resources: Json): JsonObject {
  const entries = Object.entries(mapAt({ resources }, 'resources'));
  return Object.fromEntries(entries.map(([key, value]) => [key.charAt(0).toLowerCase() + key.slice(1), value]));
}

function mapAt(config: JsonObject, key: string): JsonObject {
  const value = config[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
