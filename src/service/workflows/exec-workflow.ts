import { basename } from 'node:path';
import { wordsAsList } from '../../core/words/list-words.ts';
import { getWorkflow, type LoadedWorkflow, type WorkflowPlaces } from './workflows.ts';

/**
 * A workflow of one step that runs exactly these words: no shell, no variables. It goes through the same reading as any
 * file, so that every default and the user's `base.yaml` count for it too; a place in a text that nobody wrote is not kept.
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

/** The program's name, where it is one that reads well in front of every line. */
function stepName([program = '']: readonly string[]): string {
  const name = basename(program);
  return /^\w[\w.+-]{0,39}$/.test(name) && !name.startsWith('handlerOn.') ? name : 'command';
}
