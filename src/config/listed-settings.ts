import type { Config } from './config.ts';
import { cacheDirectory } from './directories.ts';
import { forwardingSettings, readForwardingValues } from './forwarding-settings.ts';
import type { Level, Sourced } from './resolve.ts';
import { type Setting, type SettingKey, settings, variableOf } from './settings.ts';

/** A setting as listed by `wf config`. */
export type ListedSetting = {
  /** The key in a file, including its block: `logForwarding.httpURL`. */
  readonly key: string;
  /** Plain JSON; null if not set. A secret that is set is `***`. */
  readonly value: unknown;
  /** `--dags`, `WF_PORT`, `/home/me/.config/wf/config.yaml:7`, `default`. */
  readonly source: string;
  readonly level: Level;
  readonly default: unknown;
  readonly type: string;
  readonly flag: string | null;
  readonly variable: string;
  readonly usedBy: string;
  readonly inProject: boolean;
  readonly secret: boolean;
  readonly description: string;
};

/** The locations of files; null for those that do not exist. All paths are absolute. */
export type ListedDirectories = {
  readonly config: string | null;
  readonly workflows: string | null;
  readonly runs: string | null;
  readonly cache: string | null;
  readonly userFile: string | null;
  readonly projectFile: string | null;
  readonly projectFileIgnored: string | null;
};

/** Every setting with its value and source, without secrets. Throws a `WfError` `usage` for an invalid setting. */
export function listSettings(config: Config): readonly ListedSetting[] {
  const { read } = config.settings;
  const general = (Object.keys(settings) as SettingKey[]).map((key) => {
    const { kind, fallback, about, ...rules }: Setting<unknown> = settings[key];
    const found = read(key);
    const value = key === 'dags' ? config.dagsDir : found.value;
    const description = { type: kind.name, description: about, variable: variableOf(key) };
    return { ...rules, ...description, key, default: fallback, ...shown({ ...found, value }, rules.secret) };
  });
  return [...general, ...listForwarding(config)];
}

/** The locations of a configuration. */
export function listDirectories(config: Config, env: NodeJS.ProcessEnv): ListedDirectories {
  const { user, project } = config.settings;
  return {
    config: config.configDir,
    workflows: config.dagsDir,
    runs: config.runsDir,
    cache: cacheDirectory(env, config.cwd),
    userFile: user.entries === null ? null : user.path,
    projectFile: project?.path ?? null,
    projectFileIgnored: project?.ignored ?? null,
  };
}

function listForwarding(config: Config): readonly ListedSetting[] {
  const values = readForwardingValues(config);
  return (Object.keys(forwardingSettings) as (keyof typeof forwardingSettings)[]).map((key) => {
    const { kind, fallback, about } = forwardingSettings[key];
    return {
      key: `logForwarding.${key}`,
      ...shown(values[key], key === 'headers'),
      default: fallback,
      type: kind.name,
      flag: null,
      variable: variableOf(`logForwarding${key.replace(/^./, (letter) => letter.toUpperCase())}`),
      usedBy: 'runs',
      inProject: false,
      secret: key === 'headers',
      description: about,
    };
  });
}

function shown({ value, level, source }: Sourced<unknown>, secret: boolean): Sourced<unknown> {
  if (secret && level !== 'default') return { value: '***', level, source };
  // An address may contain a login: `https://me:secret@logs.example.com/`.
  const text = typeof value === 'string' ? value.replace(/^(https?:\/\/)[^/@]*@/, '$1***@') : value;
  return { value: text, level, source };
}
