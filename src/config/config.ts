import { dirname, join } from 'node:path';
import { type OpenSettings, openSettings } from './open-settings.ts';
import { findPlaces } from './places.ts';
import { isInside } from './project-file.ts';
import { secretVariables } from './settings.ts';

/** Where things are kept and found, and what is set. All paths are absolute. */
export type Config = {
  /** Holds `config.yaml` and `base.yaml`; null when the user has no home. */
  readonly configDir: string | null;
  /** The workflows directory; null when the user has no home and named none. */
  readonly dagsDir: string | null;
  /** Set when a project's `.wf.yaml` names the workflows directory: it counts for what lies in the project alone. */
  readonly project: { readonly dir: string; readonly dagsDirElsewhere: string | null } | null;
  /** One folder a run; null when the user has no home: then nothing can be kept. */
  readonly runsDir: string | null;
  readonly settings: OpenSettings;
  /** Without the daemon's own secrets, which no step may see. */
  readonly processEnv: Readonly<Record<string, string>>;
  readonly cwd: string;
};

/** Options of the command line by the names of the settings; null or undefined where not given. */
export type SettingFlags = Readonly<Record<string, unknown>>;

/**
 * The configuration of a process: its places and its settings. `isDaemon`: no `.wf.yaml` is looked for, since what a daemon
 * does must not depend on where it was started. Throws a `WfError` `usage` for a file or variable that makes no sense.
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
    settings,
    processEnv: forSteps(env),
    cwd,
  };
}

/** Where a workflow in the given directory finds others by name: one of the user's own takes none from a foreign project. */
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
