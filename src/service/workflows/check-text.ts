import { mkdirSync } from 'node:fs';
import { messageOf, WfError } from '../../errors.ts';
import type { ListedPlaces } from './listed-workflow.ts';
import type { CheckResult, CheckWorkflow } from './load-workflow.ts';

/**
 * What is wrong with a text that came from elsewhere. What it imports is looked for in the workflows directory, as if it lay
 * there, and never outside of it. `environment`: the names of the variables that a run would inherit. Rejects with a `WfError` `usage` where there is no such directory, `storage` when it cannot be made.
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
    throw new WfError('storage', `the workflows directory "${dagsDir}" cannot be made: ${why}`, { cause: error });
  }
  return check({ text, file: null, dir: dagsDir, base, environment });
}
