import { runVariableNames } from '#core/run-variables.ts';
import type { RunRequest } from '#engine/engine.ts';
import type { Environment } from '#environment/environment.ts';
import { WfError } from '#system/errors.ts';
import type { AcceptedRun } from '../service.ts';
import { runRequest, type StartRequest } from './runs.ts';
import { withDotenv } from './with-dotenv.ts';

/** The context of the requester, from which the carrier loads its configuration. */
export type RunContext = {
  readonly env: Environment;
  readonly cwd: string;
  /** The workflows directory given by an option; null: the default. */
  readonly dags: string | null;
  readonly isDaemon: boolean;
};

/** The data that the carrier needs to run it, secrets included. */
export type Launch = {
  readonly format: typeof launchFormat;
  readonly request: RunRequest;
  readonly context: RunContext;
};

const launchFormat = 1;

/** The dependencies of accepting; `store` writes a waiting run to the disk. */
export type AcceptTools = {
  readonly context: RunContext;
  readonly store: (request: RunRequest, own: { processEnv: Environment; launch: string }) => Promise<void>;
};

/**
 * Accepts a run for a process that is started later. If a run with that id exists, it is returned. Throws
 * a `WfError`: `usage` for an invalid parameter or id, `storage`.
 */
export async function acceptRun(asked: StartRequest, { context, store }: AcceptTools): Promise<AcceptedRun> {
  const env = withoutRun(context.env);
  const request = runRequest(await withDotenv(asked, env));
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

/**
 * Returns the environment for a process that outlives the step that starts it: with the variables of that step it would be
 * part of its run, and would end with it.
 */
export function withoutRun(env: Environment): Environment {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !runVariableNames.includes(name)));
}
