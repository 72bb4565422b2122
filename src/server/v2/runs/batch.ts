import { WfError } from '../../../errors.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { problemCode } from '../../reply/problem.ts';
import type { Handler } from '../../route.ts';
import { bodyFields, textField } from '../body-fields.ts';
import type { V2Parts } from '../parts.ts';
import { findRun } from './find-run.ts';

const MAX_RUNS = 500;
const actions = ['stop', 'retry', 'delete'] as const;
type Action = (typeof actions)[number];

/** `POST /api/v2/runs/batch`. */
export function actOnRuns(parts: V2Parts): Handler {
  return async ({ body }) => {
    const fields = bodyFields(body, ['ids', 'action']);
    const action = actions.find((each) => each === textField(fields, 'action'));
    if (action === undefined) throw new HttpError(400, `"action" must be one of ${actions.join(', ')}`);
    const results: object[] = [];
    for (const id of idsIn(fields['ids'])) results.push({ id, ...(await tryOne(id, action, parts)) });
    parts.runIndex.touch();
    return jsonReply({ results });
  };
}

function idsIn(value: unknown): readonly string[] {
  const ids = Array.isArray(value) ? value : [];
  if (ids.length > 0 && ids.length <= MAX_RUNS && ids.every((id) => typeof id === 'string')) return ids;
  throw new HttpError(400, `"ids" must be a list of 1 to ${MAX_RUNS} ids of runs`);
}

async function tryOne(id: string, action: Action, parts: V2Parts): Promise<object> {
  try {
    return { done: true, runId: await act(id, action, parts), code: null, message: null };
  } catch (error) {
    if (error instanceof WfError) return { done: false, runId: null, code: error.code, message: error.message };
    if (!(error instanceof HttpError)) throw error;
    return { done: false, runId: null, code: problemCode(error.status), message: error.message };
  }
}

/** Answers the run that it was done to, or the new one. */
async function act(id: string, action: Action, parts: V2Parts): Promise<string> {
  const { runId } = await findRun(id, parts);
  switch (action) {
    case 'stop':
      if ((await parts.runs.stop(runId, { by: 'the API', kill: 'never' })).result !== 'over') return runId;
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
