import type { ProcessOwner } from '#core/run/run.ts';
import { expandText, previewText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Workflow } from '#core/workflow.ts';
import { baseEnvironment, type Environment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { RunQueue } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { pathFrom } from '#system/files.ts';
import { createdEvent } from '../driver/created-event.ts';
import type { RunRequest } from '../engine.ts';

/** Options for accepting a run. */
type QueueOptions = {
  readonly queue: RunQueue;
  readonly clock: Clock;
  readonly processEnv: Environment;
  /** The process that promises to start the run. */
  readonly by: ProcessOwner;
  /** The promise outlives `by`: its successor keeps it. */
  readonly lasting: boolean;
  /** Everything the carrier of the run needs, serialized. */
  readonly launch: string;
};

/**
 * Stores a run that waits for a process; once this resolves the run cannot be lost. Throws a `WfError`: `run-exists`,
 * `storage`, or `usage` for an invalid id.
 */
export async function queueRun(request: RunRequest, options: QueueOptions): Promise<void> {
  const { queue, clock, processEnv, by, lasting, launch } = options;
  const env = baseEnvironment(request.dotenv, processEnv);
  const secrets = new RunSecrets(request, env);
  const at = clock.now();
  const events = secrets.mask([createdEvent(request, at), { type: 'run.queued', at, by, lasting }]);
  const logDir = logDirectory(request.workflow, env);
  await queue.accept({ snapshot: secrets.snapshot(), logDir, events, launch });
}

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
