import { canonicalKey } from '#language/read/canonical-key.ts';
import { WfError } from '#system/errors.ts';
import { type Entry, unknownKey } from './config-file.ts';
import { isInside } from './project-file.ts';
import type { Kind } from './setting-kinds.ts';
import { loginKeys, type Setting, type SettingKey, type SettingValue, settings, variableOf } from './settings.ts';

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
  /** Entries of the nearest `.wf.yaml`. */
  readonly project: readonly Entry[];
  /** Entries of the user's `config.yaml`. */
  readonly user: readonly Entry[];
};

/** Returns the value of a setting. Throws a `WfError` `usage` that names the invalid flag or variable. */
export type ReadSetting = <K extends SettingKey>(key: K) => Sourced<SettingValue<K>>;

/** Blocks of settings in files. */
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
    const given = fromFlag(key, sources) ?? fromVariable(key, sources) ?? inProject.get(key) ?? ofUser.get(key);
    return (given ?? { value: fallback, level: 'default', source: 'default' }) as Sourced<SettingValue<K>>;
  };
}

/** Reads a value from any source. Throws a `WfError` `usage`. */
export function readValue<T>(kind: Kind<T>, { key, value, base, place }: Omit<Entry, 'entries' | 'line'>): T {
  const read = kind.read(value, base);
  if ('problem' in read) throw new WfError('usage', `${place}: "${key}" ${read.problem}`);
  return read.value;
}

function valuesOf(entries: readonly Entry[], level: 'project' | 'user'): ReadonlyMap<string, Sourced<unknown>> {
  const values = new Map<string, Sourced<unknown>>();
  for (const entry of entries) {
    const key = knownKey(entry, level);
    if (level === 'project' && !isForProjects(key)) throw notInProject(key, entry);
    requireFilled(key, entry.value, entry.place);
    if (key in settings && entry.value !== null) {
      const value = readValue(settingOf(key).kind, { ...entry, key });
      if (level === 'project') requireHarmless(key, value, entry);
      values.set(key, { value, level, source: entry.place.replace(/:\d+$/, '') });
    } else if (entry.entries === null) throw new WfError('usage', `${entry.place}: "${key}" must be a map`);
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

function notInProject(key: string, { place }: Entry): WfError {
  const allowed = Object.keys(settings).filter(isForProjects).join(', ');
  return new WfError('usage', `${place}: "${key}" cannot be set by a project`, {
    help: `set it in your own config.yaml; a project may set ${allowed}`,
  });
}

/** Listing a directory reads all of it, so that `dags: /` would be a trap; and a reporter may write to any file. */
function requireHarmless(key: string, value: unknown, { base, place }: Entry): void {
  if (key === 'dags' && !isInside(String(value), base))
    throw new WfError('usage', `${place}: "dags" of a project must be a directory in it, and "${value}" is not`);
  if (key === 'reporter' && String(value).includes('='))
    throw new WfError('usage', `${place}: "reporter" of a project cannot name a file to be written`);
}

/** A login of only white space counts as empty. Throws a `WfError` `usage`. */
function requireFilled(key: string, value: unknown, place: string): void {
  if (!loginKeys.has(key as SettingKey) || (value !== null && String(value).trim() !== '')) return;
  throw new WfError('usage', `${place}: "${key}" is set but empty`, {
    help: 'give it a value; to serve without a login, remove it',
  });
}

function fromFlag(key: SettingKey, { flags, cwd }: SettingSources): Sourced<unknown> | null {
  const value = flags[key];
  if (value === undefined || value === null) return null;
  const name = `--${value === false ? 'no-' : ''}${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
  requireFilled(key, value, name);
  const read = readValue(settingOf(key).kind, { key, value, base: cwd, place: name });
  return { value: read, level: 'flag', source: name };
}

/** An empty variable counts as unset, except for a login. */
function fromVariable(key: SettingKey, { env, cwd }: SettingSources): Sourced<unknown> | null {
  const name = variableOf(key);
  const value = env[name];
  if (value === undefined) return null;
  requireFilled(key, value, name);
  if (value === '') return null;
  const read = readValue(settingOf(key).kind, { key, value, base: cwd, place: name });
  return { value: read, level: 'variable', source: name };
}
