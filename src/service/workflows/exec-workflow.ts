import { basename } from 'node:path';
import { wordsAsList } from '../../core/words/list-words.ts';
import { getWorkflow, type LoadedWorkflow, type WorkflowPlaces } from './workflows.ts';

/**
 * Returns a workflow of one step that runs exactly these arguments: no shell, no variables. It is read like any file, so
 * that every default and the user's `base.yaml` apply. Positions in the generated text are dropped.
 */
export function execWorkflow(
  words: readonly string[],
  { name, places }: { readonly name: string; readonly places: WorkflowPlaces },
): LoadedWorkflow {
  const file = { name, steps: [{ name: stepName(words), command: words }] };
  const loaded = getWorkflow({ text: Buffer.from(JSON.stringify(file)) }, places);
  const { workflow } = loaded;
  const steps = workflow.steps.map((step) => {
    return { ...step, command: wordsAsList(words, { workflow, step, params: [] }) };
  });
  return { ...loaded, workflow: { ...workflow, steps }, sources: [] };
}

/** Returns the program's name if it is suitable as the prefix of every line. */
function stepName([program = '']: readonly string[]): string {
  const name = basename(program);
  return /^\w[\w.+-]{0,39}$/.test(name) && !name.startsWith('handlerOn.') ? name : 'command';
}
