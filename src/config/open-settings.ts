import { join } from 'node:path';
import { type Entry, readConfigFile } from './config-file.ts';
import { findPlaces } from './places.ts';
import { findProjectFile, type ProjectFile } from './project-file.ts';
import { type ReadSetting, resolveSettings } from './resolve.ts';
import { requireTrusted } from './trusted-files.ts';

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

/** The caller's environment and options. */
export type Asker = {
  readonly env: NodeJS.ProcessEnv;
  readonly cwd: string;
  /** Command-line options, keyed by setting; undefined if not given. */
  readonly flags: Readonly<Record<string, unknown>>;
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
