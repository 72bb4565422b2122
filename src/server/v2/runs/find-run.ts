import { WfError } from '../../../errors.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import type { V2Parts } from '../parts.ts';

/**
 * The run that a path names: by its id, by a beginning of it that no other has, or as `@latest` or `@failed`. The name of a
 * workflow is none of these: what is true of its last run now need not be when the next request comes. Throws a `WfError`:
 * `not-found`, or `usage` for the beginning of several ids.
 */
export async function findRun(word: string, { history }: Pick<V2Parts, 'history'>): Promise<PastRun> {
  const exact = await history.read(word);
  if (exact !== null) return exact;
  const run = await history.find(word);
  if (run.runId.startsWith(word) || word === '@latest' || word === '@failed') return run;
  throw new WfError('not-found', `there is no run "${word}"`, {
    help: 'GET /api/v2/runs?workflow= finds runs by name',
  });
}
