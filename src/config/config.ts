import { opendirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { given } from '#core/data/collections.ts';
import { errorCode, tryOr, WfError } from '#system/errors.ts';
import { whyUntrusted } from '#system/untrusted.ts';
import { findDirectories, findProjectFile, isInside, type ProjectFile, type UserDirectories } from './directories.ts';
import { type Entry, type ReadSetting, readConfigFile, resolveSettings, type SettingSources } from './resolve.ts';
import { secretVariables } from './settings.ts';

/** The locations and settings of a process. All paths are absolute. */
export type Config = {
  /** Contains `config.yaml` and `base.yaml`; null if the user has no home. */
  readonly configDir: string | null;
  /** The workflows directory; null if the user has no home and set none. */
  readonly dagsDir: string | null;
  /** Set if a project's `.wf.yaml` names the workflows directory: it applies only to workflows of the project. */
  readonly project: { readonly dir: string; readonly dagsDirElsewhere: string | null } | null;
  /** Contains one directory per run; null if the user has no home: then runs cannot be stored. */
  readonly runsDir: string | null;
  /** Apply to workflows without such a key. */
  readonly presets: { readonly logOutput: 'merged' | 'separate'; readonly shell: string | null };
  readonly settings: OpenSettings;
  /** Without the daemon's secrets, which steps must not see. */
  readonly processEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** Reads the configuration of a process; see `openSettings`. `isDaemon`: without the `.wf.yaml` of a project. */
export function readConfig(
  env: NodeJS.ProcessEnv,
  cwd: string,
  flags: SettingSources['flags'],
  { isDaemon = false, requiresTrust = true }: { readonly isDaemon?: boolean; readonly requiresTrust?: boolean } = {},
): Config {
  const { configDir, stateDir } = findDirectories(env, cwd);
  const settings = openSettings({ env, cwd, flags, inProject: !isDaemon, requiresTrust });
  const named = settings.read('dags');
  const usual = configDir && join(configDir, 'dags');
  const project = named.level === 'project' ? settings.project : null;
  const elsewhere = () => settings.own('dags').value ?? usual;
  const shown = Object.entries(env).filter(([name]) => !secretVariables.includes(name));
  return {
    configDir,
    dagsDir: named.value ?? usual,
    project: project && { dir: dirname(project.path), dagsDirElsewhere: elsewhere() },
    runsDir: stateDir && join(stateDir, 'runs'),
    presets: { logOutput: settings.read('logOutput').value, shell: settings.read('shell').value },
    settings,
    processEnv: given(Object.fromEntries(shown)) as Record<string, string>,
    cwd,
  };
}

/** Where a workflow finds others by name: one of the user takes none from an unrelated project. */
export function dagsDirFor({ dagsDir, project }: Config, dir: string): string | null {
  return project === null || isInside(dir, project.dir) ? dagsDir : project.dagsDirElsewhere;
}

/** All sources of settings, read once. */
export type OpenSettings = {
  readonly read: ReadSetting;
  /** The settings without those of the project. */
  readonly own: ReadSetting;
  /** The user's `config.yaml`; `entries` is null if it does not exist. */
  readonly user: { readonly path: string | null; readonly entries: readonly Entry[] | null };
  /** The project's `.wf.yaml`; null if there is none, or it was not searched for. */
  readonly project: ProjectFile | null;
};

type Asker = Pick<SettingSources, 'env' | 'cwd' | 'flags'> & {
  /** False for the daemon, which must not depend on the directory in which it was started. */
  readonly inProject: boolean;
  /** False for a caller that only inspects locations, trusted or not. */
  readonly requiresTrust?: boolean;
};

/**
 * Reads the settings: flags, then `WF_*` variables, then the nearest `.wf.yaml`, then `config.yaml`, then defaults.
 * Throws a `WfError` `usage` for an invalid file, and for locations that others can change.
 */
export function openSettings({ env, cwd, flags, inProject, requiresTrust = true }: Asker): OpenSettings {
  const directories = findDirectories(env, cwd);
  const [untrusted] = requiresTrust ? untrustedPaths(directories, env) : [];
  if (untrusted !== undefined)
    throw new WfError('usage', `will not use "${untrusted.path}": ${untrusted.why}`, { help: untrusted.help });
  const { configDir } = directories;
  const path = configDir && join(configDir, 'config.yaml');
  const entries = path === null ? null : readConfigFile(path);
  const project = inProject ? findProjectFile(cwd, env) : null;
  const ofProject = project === null || project.ignored !== null ? null : readConfigFile(project.path);
  const own = resolveSettings({ flags, env, cwd, project: [], user: entries ?? [] });
  const read = ofProject === null ? own : resolveSettings({ flags, env, cwd, project: ofProject, user: entries ?? [] });
  return { read, own, user: { path, entries }, project };
}

/** Finds directories and files that decide what runs, and that other users can change. */
export function untrustedPaths({ configDir, stateDir }: UserDirectories, env: NodeJS.ProcessEnv) {
  const files = configDir === null ? [] : ['config.yaml', 'base.yaml'].map((name) => join(configDir, name));
  const paths = [configDir, stateDir, ...files].filter((path) => path !== null);
  return [...new Set(paths)].flatMap((path) => {
    // A file that cannot be inspected is reported when it is read.
    const stat = tryOr(null, () => statSync(path));
    const why = stat === null ? null : whyUntrusted(stat, env);
    if (why === null) return [];
    const mend = why.startsWith('it belongs') ? 'change its owner' : `chmod o-w "${path}"`;
    return [{ path, why, help: `${mend}, or set WF_HOME to a directory of your own` }];
  });
}

/** Directories searched for workflows. */
export function workflowDirectories({ cwd, dagsDir, configDir, presets }: Config): {
  readonly cwd: string;
  readonly dagsDir: string | null;
  /** The file with the defaults of all workflows. */
  readonly base: string | null;
  readonly presets: Config['presets'];
} {
  return { cwd, dagsDir, base: configDir === null ? null : join(configDir, 'base.yaml'), presets };
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'does not exist',
  ENOTDIR: 'is not a directory',
};

/** Requires a workflows directory that this command names to exist. Throws a `WfError` `not-found`. */
export function requireNamedDags({ settings }: Pick<Config, 'settings'>): void {
  const { value, level, source } = settings.read('dags');
  if (value === null || (level !== 'flag' && level !== 'variable')) return;
  try {
    opendirSync(value).closeSync();
  } catch (error) {
    const reason = reasons[errorCode(error)] ?? 'cannot be read';
    throw new WfError('not-found', `the workflows directory "${value}" ${reason}`, {
      help: `${source} names it; without ${source}, the default is used`,
    });
  }
}
