import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { fileProblem, positionsIn } from '#language/diagnostic.ts';
import { decode, type MapEntry, type Node, parse, textOf } from '#language/read/yaml.ts';
import { canonicalKey } from '#language/schema/schema-type.ts';
import { errorCode, messageOf, WfError } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { isInside } from './directories.ts';
import {
  type Kind,
  loginKeys,
  type Setting,
  type SettingKey,
  type SettingValue,
  settings,
  variableOf,
} from './settings.ts';

/** One key of a file and its value. */
export type Entry = {
  readonly key: string;
  /** As plain data; null if the value is empty. */
  readonly value: unknown;
  /** The entries of a map; empty if the value is empty, null for any other value. */
  readonly entries: readonly Entry[] | null;
  readonly base: string;
  /** From 1; 0 for a value that is not from a file. */
  readonly line: number;
  /** For messages: `/home/me/.config/wf/config.yaml:3:5`. */
  readonly position: string;
};

/**
 * The entries of a configuration file; null if there is no file. Hostile YAML is refused as in workflow files. Throws
 * a `WfError` `usage` for a file that cannot be read or is not a map, and for a duplicate key.
 */
export function readConfigFile(path: string): readonly Entry[] | null {
  const bytes = readIfThere(path);
  if (bytes === null) return null;
  const { source, problems } = decode(path, bytes);
  const { document, problems: found } = problems.length > 0 ? { document: null, problems } : parse(source);
  const [problem] = found;
  if (problem !== undefined) throw fileProblem(problem);
  if (document === null || document.contents === null) return [];
  const positionAt = positionsIn(source);
  const entries = entriesOf(document.contents, { positionAt, base: dirname(path) });
  if (entries !== null) return entries;
  throw new WfError('usage', `${positionAt(document.contents.start).text}: the configuration must be a map`);
}

/** The error for an unknown key, with suggestions. */
export function unknownKey({ key, position }: Pick<Entry, 'key' | 'position'>, known: readonly string[]): WfError {
  const help = didYouMean(nearNames(key, known)) || `known are ${known.join(', ')}`;
  return new WfError('usage', `${position}: unknown key "${key}"`, { help });
}

type Reading = {
  readonly positionAt: ReturnType<typeof positionsIn>;
  readonly base: string;
};

function entriesOf(node: Node | null, reading: Reading): readonly Entry[] | null {
  if (node === null || (node.kind === 'scalar' && node.value === null)) return [];
  if (node.kind !== 'map') return null;
  const entries = node.entries.map((entry) => entryOf(entry, reading));
  const seen = new Set<string>();
  for (const { key, position } of entries) {
    if (seen.has(canonicalKey(key))) throw new WfError('usage', `${position}: duplicate key "${key}"`);
    seen.add(canonicalKey(key));
  }
  return entries;
}

function entryOf({ key, value }: MapEntry, reading: Reading): Entry {
  const { line, text: position } = reading.positionAt(key?.start ?? 0);
  return {
    key: keyText(key, position),
    value: plainValue(value, position),
    entries: entriesOf(value, reading),
    base: reading.base,
    line,
    position,
  };
}

function plainValue(node: Node | null, position: string): unknown {
  if (node === null) return null;
  if (node.kind === 'scalar') return node.value;
  if (node.kind === 'list') return node.items.map((item) => plainValue(item, position));
  if (node.kind === 'map')
    return Object.fromEntries(
      node.entries.map(({ key, value }) => [keyText(key, position), plainValue(value, position)]),
    );
  throw new WfError('usage', `${position}: the value cannot be read`, { help: 'write it without aliases' });
}

function keyText(key: Node | null, position: string): string {
  if (key?.kind !== 'scalar') throw new WfError('usage', `${position}: a key must be text`);
  return textOf(key);
}

/** Only regular files are read: a pipe or a device in a project must not block a command. */
function readIfThere(path: string): Uint8Array | null {
  try {
    return readRegular(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === 'ENOENT') return null;
    if (code === 'ENOTDIR') throw outsideDirectory(path);
    throw new WfError('usage', `cannot read "${path}": ${messageOf(error)}`);
  }
}

/** Only the user's own directories can be wrong in this way: a project's file was found before it is read. */
function outsideDirectory(path: string): WfError {
  let part = dirname(path);
  while (!existsSync(part)) part = dirname(part);
  return new WfError('usage', `cannot read "${path}": "${part}" is not a directory`, {
    help: 'set WF_HOME to a directory; it need not exist yet',
  });
}

/** The sources of a value, in order of precedence. */
export type Level = 'flag' | 'variable' | 'project' | 'user' | 'default';

/** A value and its source. */
export type Sourced<T> = {
  readonly value: T;
  readonly level: Level;
  /** For messages: `--port`, `WF_PORT`, `/home/me/.config/wf/config.yaml:7`, `default`. */
  readonly source: string;
};

/** The sources of settings. */
export type SettingSources = {
  /** Command-line options, keyed by setting; null or undefined if not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  readonly project: readonly Entry[];
  readonly user: readonly Entry[];
};

/** Returns the value of a setting. Throws a `WfError` `usage` that names the invalid flag or variable. */
export type ReadSetting = <K extends SettingKey>(key: K) => Sourced<SettingValue<K>>;

const blocks = ['logForwarding'];

/**
 * Resolves settings from all sources. Files are checked at once and as a whole; flags and variables only when they are
 * read, since `WF_PORT` does not concern a run. Throws a `WfError` `usage` with the position in the file.
 */
export function resolveSettings(sources: SettingSources): ReadSetting {
  const inProject = valuesOf(sources.project, 'project');
  const ofUser = valuesOf(sources.user, 'user');
  return <K extends SettingKey>(key: K) => {
    const { fallback } = settings[key];
    const given = fromCaller(key, sources) ?? inProject.get(key) ?? ofUser.get(key);
    return (given ?? { value: fallback, level: 'default', source: 'default' }) as Sourced<SettingValue<K>>;
  };
}

/** Reads a value from any source. Throws a `WfError` `usage`. */
export function readValue<T>(kind: Kind<T>, { key, value, base, position }: Omit<Entry, 'entries' | 'line'>): T {
  const read = kind.read(value, base);
  if ('problem' in read) throw new WfError('usage', `${position}: "${key}" ${read.problem}`);
  return read.value;
}

function valuesOf(entries: readonly Entry[], level: 'project' | 'user'): ReadonlyMap<string, Sourced<unknown>> {
  const values = new Map<string, Sourced<unknown>>();
  for (const entry of entries) {
    const key = knownKey(entry, level);
    if (level === 'project' && !isForProjects(key)) {
      const allowed = Object.keys(settings).filter(isForProjects).join(', ');
      const help = `set it in your own config.yaml; a project may set ${allowed}`;
      throw new WfError('usage', `${entry.position}: "${key}" cannot be set by a project`, { help });
    }
    requireFilled(key, entry.value, entry.position);
    if (key in settings && entry.value !== null) {
      const value = readValue(settingOf(key).kind, { ...entry, key });
      if (level === 'project') requireHarmless(key, value, entry);
      values.set(key, { value, level, source: entry.position.replace(/:\d+$/, '') });
    } else if (entry.entries === null) throw new WfError('usage', `${entry.position}: "${key}" must be a map`);
  }
  return values;
}

/** An unknown key is reported with the keys allowed there. */
function knownKey(entry: Entry, level: 'project' | 'user'): string {
  const known = [...Object.keys(settings), ...blocks];
  const key = known.find((name) => canonicalKey(name) === canonicalKey(entry.key));
  if (key === undefined) throw unknownKey(entry, level === 'project' ? known.filter(isForProjects) : known);
  return key;
}

function settingOf(key: string): Setting<unknown> {
  return settings[key as SettingKey] as Setting<unknown>;
}

function isForProjects(key: string): boolean {
  return key in settings && settingOf(key).inProject;
}

/** Listing a directory reads all of it, so that `dags: /` would be a trap; and a reporter may write to any file. */
function requireHarmless(key: string, value: unknown, { base, position }: Entry): void {
  if (key === 'dags' && !isInside(String(value), base))
    throw new WfError('usage', `${position}: "dags" of a project must be a directory in it, and "${value}" is not`);
  if (key === 'reporter' && String(value).includes('='))
    throw new WfError('usage', `${position}: "reporter" of a project cannot name a file to be written`);
}

/** A login of only white space counts as empty. Throws a `WfError` `usage`. */
function requireFilled(key: string, value: unknown, position: string): void {
  if (!loginKeys.has(key as SettingKey) || (value !== null && String(value).trim() !== '')) return;
  throw new WfError('usage', `${position}: "${key}" is set but empty`, {
    help: 'give it a value; to serve without a login, remove it',
  });
}

/** An empty variable counts as unset, except for a login. */
function fromCaller(key: SettingKey, { flags, env, cwd }: SettingSources): Sourced<unknown> | null {
  const flag = flags[key] ?? null;
  const level = flag === null ? 'variable' : 'flag';
  const option = `--${flag === false ? 'no-' : ''}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  const source = level === 'flag' ? option : variableOf(key);
  const value = flag ?? env[source];
  if (value === undefined) return null;
  requireFilled(key, value, source);
  if (level === 'variable' && value === '') return null;
  return { value: readValue(settingOf(key).kind, { key, value, base: cwd, position: source }), level, source };
}
