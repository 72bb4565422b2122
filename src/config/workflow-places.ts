import { join } from 'node:path';
import type { Config } from './config.ts';

/** Directories searched for workflows. */
export function workflowPlaces({ cwd, dagsDir, configDir, presets }: Config): {
  readonly cwd: string;
  readonly dagsDir: string | null;
  /** The file with the defaults of all workflows. */
  readonly base: string | null;
  readonly presets: Config['presets'];
} {
  return { cwd, dagsDir, base: configDir === null ? null : join(configDir, 'base.yaml'), presets };
}
