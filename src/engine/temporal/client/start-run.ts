import type { Client, Connection } from '@temporalio/client';
import type { EngineAccess } from '../connection.ts';
import { firstEvents, payloadValue } from '../history.ts';
import { DEFAULT_QUEUE, type EngineRun, RUN_TYPE } from '../protocol.ts';

/** Starts a run in the engine. Resolves to false if it has a run with that id. Rejects with the errors of the connection. */
export async function startRun(client: Client, run: EngineRun): Promise<boolean> {
  const { runId, workflow, trigger } = run.request;
  try {
    await client.workflow.start(RUN_TYPE, {
      workflowId: runId,
      taskQueue: DEFAULT_QUEUE,
      args: [run],
      memo: { name: workflow.name, trigger },
      workflowIdReusePolicy: 'REJECT_DUPLICATE',
      workflowTaskTimeout: '10 seconds',
    });
    return true;
  } catch (error) {
    if (error instanceof Error && error.name === 'WorkflowExecutionAlreadyStartedError') return false;
    throw error;
  }
}

/** Reads what a run of the engine was started with; null if the engine does not know it, or no longer. */
export async function readStartedRun(access: EngineAccess<Connection>, runId: string): Promise<EngineRun | null> {
  const [first] = await firstEvents(access, runId).catch(ifGone([]));
  const { input } = first?.workflowExecutionStartedEventAttributes ?? {};
  return ((await payloadValue(input, access.dataConverter.payloadCodecs ?? [])) as EngineRun | undefined) ?? null;
}

/** Handles the error of an engine that does not know a run, or no longer runs it. */
export function ifGone<T>(otherwise: T): (error: unknown) => T {
  return (error) => {
    const { code, name } = error as { readonly code?: unknown; readonly name?: unknown };
    if (Number(code) === 5 || name === 'WorkflowNotFoundError') return otherwise;
    throw error;
  };
}
