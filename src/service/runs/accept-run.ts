import type { RunRequest } from '../../engine/engine.ts';
import type { Environment } from '../../engine/local/environment/environment.ts';
import { WfError } from '../../errors.ts';
import type { AcceptedRun } from './run-desk.ts';
import { runRequest, type StartRequest } from './runs.ts';

/** Where a run was asked for: what the process that will carry it out makes its configuration from. */
export type RunContext = {
  readonly env: Environment;
  readonly cwd: string;
  /** The workflows directory that was named; null: the usual one. */
  readonly dags: string | null;
  readonly isDaemon: boolean;
};

/** All that the process which will carry a run has to know, with its secrets. */
export type Launch = {
  readonly format: typeof launchFormat;
  readonly request: RunRequest;
  readonly context: RunContext;
};

const launchFormat = 1;

/** What accepting takes; `store` puts a run that waits on the disk. */
export type AcceptTools = {
  readonly context: RunContext;
  readonly store: (request: RunRequest, own: { processEnv: Environment; launch: string }) => Promise<void>;
};

/**
 * Takes a run in, to be carried out by a process that is started later. A run of that name that exists is answered with.
 * Throws a `WfError`: `usage` for a parameter or an id that cannot be, `storage`.
 */
export async function acceptRun(asked: StartRequest, { context, store }: AcceptTools): Promise<AcceptedRun> {
  const request = runRequest(asked);
  const env = withoutRun(context.env);
  const launch: Launch = { format: launchFormat, request, context: { ...context, env } };
  try {
    await store(request, { processEnv: env, launch: JSON.stringify(launch) });
    return { runId: request.runId, isNew: true };
  } catch (error) {
    if (asked.runId === null || !(error instanceof WfError) || error.code !== 'run-exists') throw error;
    return { runId: asked.runId, isNew: false };
  }
}

/** Returns null for a file written by an incompatible version. */
export function parseLaunch(text: string): Launch | null {
  const launch = JSON.parse(text) as Launch;
  return launch.format === launchFormat ? launch : null;
}

/** Variables by which a process is known to belong to a run and would be ended with it. */
const ofRuns = [
  'WF_RUN_ID',
  'WF_WORKFLOW',
  'WF_STEP',
  'WF_ATTEMPT',
  'WF_LOG_FILE',
  'DAG_NAME',
  'DAG_REQUEST_ID',
  'DAG_EXECUTION_LOG_PATH',
];

/** The environment for what outlives the step that it was asked for in. */
export function withoutRun(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofRuns.includes(name)));
}
