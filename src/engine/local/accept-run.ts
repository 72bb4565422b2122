import type { Owner } from '../../core/run/run.ts';
import type { RunQueue } from '../../store/store.ts';
import type { Clock } from '../clock.ts';
import type { RunRequest } from '../engine.ts';
import { createdEvent } from './created-event.ts';
import type { Environment } from './environment/environment.ts';
import { RunSecrets } from './environment/run-secrets.ts';
import { logDirectory } from './output/log-directory.ts';

/** How a run is accepted, and for whom. */
export type AcceptOptions = {
  readonly queue: RunQueue;
  readonly clock: Clock;
  /** The environment that the run will see. */
  readonly processEnv: Environment;
  /** Who promises to start it. */
  readonly by: Owner;
  /** The promise outlives `by`: whoever takes its place keeps it. */
  readonly lasting: boolean;
  /** What the process that will carry the run has to know. */
  readonly launch: string;
};

/**
 * Stores a run that waits for a process; once this resolves it cannot be lost any more. Throws a `WfError`: `run-exists`,
 * `storage`, `usage` for an id that cannot be one.
 */
export async function acceptRun(request: RunRequest, options: AcceptOptions): Promise<void> {
  const { queue, clock, processEnv, by, lasting, launch } = options;
  const secrets = new RunSecrets(request, processEnv);
  const at = clock.now();
  const events = secrets.mask([createdEvent(request, at), { type: 'run.queued', at, by, lasting }]);
  const logDir = logDirectory(request.workflow, processEnv);
  await queue.accept({ snapshot: secrets.snapshot(), logDir, events, launch });
}
