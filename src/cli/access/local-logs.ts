import { isFinished } from '../../core/run/run-state.ts';
import { WfError } from '../../errors.ts';
import { attemptsOf } from '../../service/history/attempts.ts';
import type { History } from '../../service/history/history.ts';
import { followLogs, type LogView, showLogs } from '../../service/history/log-view.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type { LogRequest, RunLogs } from '../../service/history/run-access.ts';
import { whyNothing } from '../../service/history/why-nothing.ts';
import { findWorkflow, type WorkflowPlaces } from '../../service/workflows/workflows.ts';

/** What the logs of this machine are read with. */
export type LogTools = Pick<LogView, 'readLog' | 'followLogs'> & {
  readonly history: History;
  readonly places: WorkflowPlaces;
};

/** The output of a run of this machine. Throws as `RunAccess` says. */
export async function localLogs(word: string, request: LogRequest, tools: LogTools): Promise<RunLogs> {
  const { history, readLog, followLogs: follower } = tools;
  const run = await (request.follow ? findOrAwait(word, request, tools) : history.find(word));
  const filter = { step: request.step, attempt: request.attempt };
  const isEmpty = attemptsOf(run, filter).length === 0;
  return {
    runId: run.runId,
    steps: run.stored?.workflow.steps ?? null,
    read: async (reader, signal) => {
      const { stream } = request;
      const view: LogView = { filter, stream, reader, signal, readLog, followLogs: follower, follow: history.follow };
      if (request.follow && !isFinished(run.state)) return followLogs(run, view);
      if (isEmpty) request.tell(whyNothing(run, request.step));
      await showLogs(run, view);
    },
  };
}

/** A workflow that has not run yet is followed from its first run on. */
async function findOrAwait(word: string, { tell }: LogRequest, { history, places }: LogTools): Promise<PastRun> {
  try {
    return await history.find(word);
  } catch (error) {
    if (!isNotFound(error) || !isWorkflow(word, places)) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  return (await history.await(word, new AbortController().signal)) ?? history.find(word);
}

function isWorkflow(name: string, places: WorkflowPlaces): boolean {
  try {
    findWorkflow(name, places);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}

function isNotFound(error: unknown): boolean {
  return error instanceof WfError && error.code === 'not-found';
}
