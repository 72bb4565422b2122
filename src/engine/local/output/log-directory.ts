import { expandText, previewText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Workflow } from '#core/workflow.ts';
import { type Environment, pathFrom } from '#environment/environment.ts';
import { WfError } from '#system/errors.ts';

/**
 * The absolute path of `logDir`; null if the file has none. It is needed before the run is evaluated, so it may use the
 * process environment and plain `env` entries, but no substitution and no parameter.
 */
export function logDirectory(workflow: Workflow, processEnv: Environment): string | null {
  if (workflow.logDir === null) return null;
  const known = new Map(Object.entries(processEnv));
  const scope = (name: string) => known.get(name);
  for (const { name, value } of workflow.env) known.set(name, previewText(value, scope));
  try {
    return pathFrom(workflow.dir, expandText(workflow.logDir, scope), scope('HOME'));
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    throw new WfError('usage', `"logDir": ${error.message}`);
  }
}
