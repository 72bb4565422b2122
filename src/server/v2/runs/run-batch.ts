import { WfError } from '#system/errors.ts';
import { actorOf } from '../../answerer.ts';
import type { Bodies } from '../../generated/requests.mjs';
import { problemCode } from '../../reply/problem-codes.ts';
import { readBody } from '../../requests.ts';
import { type Handler, HttpError, jsonReply } from '../../route.ts';
import { namedRun, runIdToRemove, type V2Parts } from '../v2-parts.ts';

/** What to do with each run; `by`: the client. */
type Order = { readonly action: Bodies['actOnRuns']['action']; readonly by: string };

/** `POST /api/v2/runs/batch`. */
export function actOnRuns(parts: V2Parts): Handler {
  return async ({ body, visitor }) => {
    const { ids, action } = readBody('actOnRuns', body);
    const results: object[] = [];
    const by = actorOf(visitor);
    for (const id of ids) results.push({ id, ...(await tryOne(id, { action, by }, parts)) });
    parts.runIndex.touch();
    return jsonReply({ results });
  };
}

async function tryOne(id: string, order: Order, parts: V2Parts): Promise<object> {
  try {
    return { done: true, runId: await act(id, order, parts), code: null, message: null };
  } catch (error) {
    if (error instanceof WfError) return { done: false, runId: null, code: error.code, message: error.message };
    if (!(error instanceof HttpError)) throw error;
    return { done: false, runId: null, code: problemCode(error.status), message: error.message };
  }
}

/** Returns the id of the affected run, or of the new one. */
async function act(id: string, { action, by }: Order, parts: V2Parts): Promise<string> {
  const runId = action === 'delete' ? await runIdToRemove(id, parts) : (await namedRun(id, parts)).runId;
  switch (action) {
    case 'stop':
      if ((await parts.runs.stop(runId, { by, kill: 'never' })).result !== 'over') return runId;
      throw new WfError('conflict', `the run ${runId} has ended already`);
    case 'delete':
      await parts.removeRun(runId);
      return runId;
    case 'retry': {
      const order = { params: null, useFile: false, newRunId: null, trigger: 'api' } as const;
      const accepted = await parts.runs.retry({ ...order, runId, selection: { steps: 'unfinished' } });
      if (accepted !== null) return accepted.runId;
      throw new WfError('conflict', `there is nothing to retry: every step of the run ${runId} succeeded`);
    }
  }
}
