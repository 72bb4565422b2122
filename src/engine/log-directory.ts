import { resolve } from 'node:path';
import { expandText } from '../core/interpolate.ts';
import type { Workflow } from '../core/workflow.ts';
import type { Environment } from './environment.ts';

/**
 * The absolute directory that `logDir` names, null when the file names none. It is needed before anything of the run is
 * evaluated, so it may use the process's environment and plain entries of `env`, but no substitution and no parameter.
 */
export function logDirectory(workflow: Workflow, processEnv: Environment): string | null {
  if (workflow.logDir === null) return null;
  const known = new Map(Object.entries(processEnv));
  const scope = (name: string) => known.get(name);
  for (const { name, value } of workflow.env) known.set(name, expandText(value, scope));
  return resolve(workflow.dir, expandText(workflow.logDir, scope));
}
