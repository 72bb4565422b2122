import { resolve } from 'node:path';
import { expandWords, parseCommand } from '../../core/words/words.ts';
import type { Json, JsonObject } from '../../core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { apiName, settingValue } from './api/api-settings.ts';
import { DockerProblem } from './problem.ts';

/** What a step's `config` comes to: a container of its own, or a command in one that runs. */
export type DockerSettings = ContainerSettings | ExecSettings;

export type ContainerSettings = {
  readonly kind: 'container';
  readonly image: string;
  readonly pull: 'missing' | 'always' | 'never';
  readonly platform: string | null;
  readonly name: string | null;
  /** Leave the container there when it has ended by itself. */
  readonly isKept: boolean;
  /** Null: the image's own. */
  readonly entrypoint: readonly string[] | null;
  readonly env: Variables;
  /** `Config`, `HostConfig` and `NetworkingConfig` of the API without what stands above. */
  readonly container: JsonObject;
  readonly host: JsonObject;
  readonly network: JsonObject;
};

export type ExecSettings = {
  readonly kind: 'exec';
  /** Name or id of the container. */
  readonly container: string;
  readonly env: Variables;
  readonly hasTerminal: boolean;
  /** Further fields of the API's `ExecConfig`. */
  readonly exec: JsonObject;
};

/** Values by name; a name without a value (null) takes a variable of the image away. */
export type Variables = Readonly<Record<string, string | null>>;

/** Replaces the variables of a checked `config` and gives every setting its name in the API. Throws a `DockerProblem`. */
export function readSettings(config: JsonObject, attempt: Attempt): DockerSettings {
  // Before the variables are replaced: what they hold is never split.
  const entrypoint = readEntrypoint(mapAt(config, 'container')['entrypoint'], attempt);
  const { image = '', containerName = '', ...rest } = expandAll(config, attempt.expand) as JsonObject;
  const name = checkedName('container', String(containerName), containerPattern);
  if (isExec(config)) return readExec(rest, name);
  if (image === '') throw new DockerProblem('"image" is empty');
  const { env, cmd, entrypoint: _, ...container } = mapAt(rest, 'container');
  const { autoRemove, resources, ...host } = mapAt(rest, 'host');
  return {
    kind: 'container',
    image: checkedName('image', String(image), imagePattern),
    pull: readPull(rest['pull']),
    platform: textOrNull(rest['platform']),
    name: name || null,
    isKept: (rest['autoRemove'] ?? autoRemove) === false,
    entrypoint,
    env: readVariables(env),
    container: toApi({ ...container, ...(cmd === undefined ? {} : { cmd: words(cmd) }) }),
    host: toApi({ ...withBinds(host, attempt), ...resourcesOf(resources) }),
    network: toApi(mapAt(rest, 'network')),
  };
}

/** A name becomes a part of an address, so that it must be nothing else. */
function checkedName(kind: string, name: string, pattern: RegExp): string {
  if (name === '' || pattern.test(name)) return name;
  throw new DockerProblem(
    `${JSON.stringify(name)} cannot be the name of ${kind === 'image' ? 'an image' : 'a container'}`,
  );
}

/** Registry and path, tag, digest. Source: the grammar of the distribution project's package "reference". */
const imagePattern =
  /^(\[[0-9a-f:]+\]|[a-z0-9][\w.-]*)(:\d+(?=\/))?(\/[a-z0-9][\w.-]*)*(:\w[\w.-]*)?(@[\w+.-]+:[0-9a-f]+)?$/i;
const containerPattern = /^\w[\w.-]*$/;

/** A running container is meant when the step says so, or names no image to make one of. */
function isExec({ exec, image }: JsonObject): boolean {
  return (exec !== undefined && exec !== false) || image === undefined;
}

function readExec(config: JsonObject, container: string): ExecSettings {
  if (container === '') throw new DockerProblem('"containerName" is empty');
  const { env, tty, ...exec } = mapAt(config, 'exec');
  return {
    kind: 'exec',
    container,
    env: readVariables(env),
    hasTerminal: settingValue('tty', tty ?? false) === true,
    exec: toApi(exec),
  };
}

function toApi(settings: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(settings).map(([name, value]) => [apiName(name), settingValue(name, value)]),
  );
}

/** Replaces the variables in every text, also in the keys of maps (paths, labels). */
function expandAll(value: Json, expand: (text: string) => string): Json {
  if (typeof value === 'string') return expand(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => expandAll(item, expand));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [expand(key), expandAll(item, expand)]));
}

function readPull(pull: Json | undefined): ContainerSettings['pull'] {
  if (pull === true || pull === 'always') return 'always';
  return pull === false || pull === 'never' ? 'never' : 'missing';
}

function readEntrypoint(entrypoint: Json | undefined, { scope, expand }: Attempt): readonly string[] | null {
  if (entrypoint === undefined) return null;
  if (typeof entrypoint !== 'string') return words(entrypoint).map(expand);
  const parsed = parseCommand(entrypoint);
  if (parsed.kind === 'words') return expandWords(parsed.words, scope);
  throw new DockerProblem(`the entrypoint ${JSON.stringify(entrypoint)} has shell syntax: give it as a list of words`);
}

function words(value: Json): readonly string[] {
  return (Array.isArray(value) ? value : [value]).map(String);
}

/** `NAME=value` texts, maps, or a map, as `env` is written everywhere. */
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

/** Sources that are relative, or in the home directory, are so for the step: Docker takes absolute ones only. */
function withBinds(host: JsonObject, { cwd, env }: Attempt): JsonObject {
  if (!Array.isArray(host['binds'])) return host;
  const binds = host['binds'].map((bind: Json) => {
    const [source = '', ...rest] = String(bind).split(':');
    if (/^~(?=\/|$)/.test(source)) return [`${env['HOME'] ?? ''}${source.slice(1)}`, ...rest].join(':');
    return /^\.\.?(\/|$)/.test(source) ? [resolve(cwd, source), ...rest].join(':') : String(bind);
  });
  return { ...host, binds };
}

/** Checked by Docker alone, so that the keys are as they were written. */
function resourcesOf(resources: Json | undefined): JsonObject {
  const entries = Object.entries(mapAt({ resources: resources ?? {} }, 'resources'));
  return Object.fromEntries(entries.map(([key, value]) => [key.charAt(0).toLowerCase() + key.slice(1), value]));
}

function mapAt(config: JsonObject, key: string): JsonObject {
  const value = config[key];
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : {};
}

function textOrNull(value: Json | undefined): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}
