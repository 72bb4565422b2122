import { dirname, join } from 'node:path';
import { type OpenSettings, openSettings } from './open-settings.ts';
import { findPlaces } from './places.ts';
import { isInside } from './project-file.ts';
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

/** Command-line options, keyed by setting; null or undefined if not given. */
export type SettingFlags = Readonly<Record<string, unknown>>;

/**
 * Reads the configuration of a process. `isDaemon`: `.wf.yaml` is ignored, since a daemon must not depend on the
 * directory in which it was started. Throws a `WfError` `usage` for an invalid file or variable.
 */
export function readConfig(
  env: NodeJS.ProcessEnv,
  cwd: string,
  flags: SettingFlags,
  { isDaemon = false, requiresTrust = true }: { readonly isDaemon?: boolean; readonly requiresTrust?: boolean } = {},
): Config {
  const { configDir, stateDir } = findPlaces(env, cwd);
  const settings = openSettings({ env, cwd, flags, inProject: !isDaemon, requiresTrust });
  const named = settings.read('dags');
  const usual = configDir && join(configDir, 'dags');
  return {
    configDir,
    dagsDir: named.value ?? usual,
    project: projectOf(settings, usual),
    runsDir: stateDir && join(stateDir, 'runs'),
    presets: { logOutput: settings.read('logOutput').value, shell: settings.read('shell').value },
    settings,
    processEnv: forSteps(env),
    cwd,
  };
}

/**
 * The directory in which a workflow finds others by name. A workflow of the user takes none from an unrelated project.
 */
export function dagsDirFor({ dagsDir, project }: Config, dir: string): string | null {
  return project === null || isInside(dir, project.dir) ? dagsDir : project.dagsDirElsewhere;
}

function projectOf({ read, own, project }: OpenSettings, usual: string | null): Config['project'] {
  if (project === null || read('dags').level !== 'project') return null;
  return { dir: dirname(project.path), dagsDirElsewhere: own('dags').value ?? usual };
}

function forSteps(env: NodeJS.ProcessEnv): Record<string, string> {
  const full: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !secretVariables.includes(name)) full[name] = value;
  }
  return full;
}
