import type { Param } from '../../core/run/run.ts';
import type { Workflow } from '../../core/workflow.ts';
import { openParams } from '../../service/workflows/open-params.ts';
import type { Console } from '../terminal/console.ts';

/**
 * The given parameters, and after them those that the file leaves open and a person at the terminal was asked for; null when
 * they want no run after all. Where nobody can be asked, or `asks` is false, an open parameter stays empty.
 */
export async function completeParams(
  { workflow, given, asks }: { workflow: Workflow; given: readonly Param[]; asks: boolean },
  console: Console,
): Promise<readonly Param[] | null> {
  const names = asks ? openParams(workflow, given) : [];
  if (names.length === 0) return given;
  const { isInteractive } = await import('../terminal/interactive.ts');
  if (!isInteractive(console)) return given;
  const { askParams } = await import('../terminal/ask.ts');
  const secrets = new Set(workflow.secrets.map(({ name }) => name));
  const answers = await askParams({ names, secrets }, console);
  return answers === null ? null : [...given, ...answers];
}
