import { join } from 'node:path';
import { type Entry, readConfigFile } from './config-file.ts';
import { findPlaces } from './places.ts';
import { findProjectFile, type ProjectFile } from './project-file.ts';
import { type ReadSetting, resolveSettings } from './resolve.ts';
import { requireTrusted } from './trusted-files.ts';

/** Everything that settings are taken from, read once. */
export type OpenSettings = {
  readonly read: ReadSetting;
  /** The same as if there were no project. */
  readonly own: ReadSetting;
  /** The user's `config.yaml`; `entries` is null where there is none. */
  readonly user: { readonly path: string | null; readonly entries: readonly Entry[] | null };
  /** The project's `.wf.yaml`; null where there is none or none is looked for. */
  readonly project: ProjectFile | null;
};

/** Who asks for settings. */
export type Asker = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Options of the command line by the names of the settings; undefined where not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  /** False for the daemon: what it does must not depend on where it was started. */
  readonly inProject: boolean;
  /** False for who only looks at places that cannot be trusted. */
  readonly requiresTrust?: boolean;
};

/**
 * Looks for the settings: flags, then `WF_*` variables, then the nearest `.wf.yaml`, then `config.yaml`, then defaults.
 * Throws a `WfError` `usage` for a file that makes no sense, and for places that others can change.
 */
export function openSettings({ env, cwd, flags, inProject, requiresTrust = true }: Asker): OpenSettings {
  const places = findPlaces(env, cwd);
  if (requiresTrust) requireTrusted(places, env);
  const { configDir } = places;
  const path = configDir === null ? null : join(configDir, 'config.yaml');
  const entries = path === null ? null : readConfigFile(path);
  const project = inProject ? findProjectFile(cwd, env) : null;
  const ofProject = project === null || project.ignored !== null ? null : readConfigFile(project.path);
  const own = resolveSettings({ flags, env, cwd, project: [], user: entries ?? [] });
  const read = ofProject === null ? own : resolveSettings({ flags, env, cwd, project: ofProject, user: entries ?? [] });
  return { read, own, user: { path, entries }, project };
}
