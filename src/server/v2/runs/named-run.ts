import { WfError } from '../../../errors.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import type { V2Parts } from '../v2-parts.ts';

/**
 * Returns the run that a path names: by its id, a unique prefix of it, `@latest` or `@failed`. A workflow is not
 * accepted, since its last run may change between two requests. Throws a `WfError`: `not-found`, or `usage` for the
 * prefix of several ids.
 */
export async function namedRun(word: string, { history }: Pick<V2Parts, 'history'>): Promise<PastRun> {
  const exact = await history.read(word);
  if (exact !== null) return exact;
  const run = await history.find(word);
  if (run.runId.startsWith(word) || word === '@latest' || word === '@failed') return run;
  throw new WfError('not-found', `there is no run "${word}"`, {
    help: 'GET /api/v2/runs?workflow= finds runs by name',
  });
}
