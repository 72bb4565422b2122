import type { Owner } from '#core/run/run.ts';
import { baseEnvironment, type Environment } from '#environment/environment.ts';
import { RunSecrets } from '#environment/run-secrets.ts';
import type { RunQueue } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import type { RunRequest } from '../engine.ts';
import { createdEvent } from './created-event.ts';
import { logDirectory } from './output/log-directory.ts';

/** Options for accepting a run. */
export type QueueOptions = {
  readonly queue: RunQueue;
  readonly clock: Clock;
  /** The environment of the run. */
  readonly processEnv: Environment;
  /** The process that promises to start the run. */
  readonly by: Owner;
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
