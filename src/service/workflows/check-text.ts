import { mkdirSync } from 'node:fs';
import { messageOf, WfError } from '../../errors.ts';
import type { ListedPlaces } from './listed-workflow.ts';
import type { CheckResult, CheckWorkflow } from './load-workflow.ts';

/**
 * Checks the text of a workflow from elsewhere. Imports are resolved as if the file were in the workflows directory, and
 * never outside of it. `environment`: the names of the variables that a run would inherit. Rejects with a `WfError`
 * `usage` if there is no workflows directory, `storage` if it cannot be created.
 */
export async function checkText(
  text: string,
  { dagsDir, base }: ListedPlaces,
  { check, environment }: { readonly check: CheckWorkflow; readonly environment: readonly string[] },
): Promise<CheckResult> {
  if (dagsDir === null) {
    throw new WfError('usage', 'there is no workflows directory', { help: 'name one with --dags' });
  }
  try {
    mkdirSync(dagsDir, { recursive: true, mode: 0o700 });
  } catch (error) {
    const why = messageOf(error);
    throw new WfError('storage', `the workflows directory "${dagsDir}" cannot be created: ${why}`, { cause: error });
  }
  return check({ text, file: null, dir: dagsDir, base, environment });
}
