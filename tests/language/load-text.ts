import type { Workflow } from '../../src/core/workflow.ts';
import { loadWorkflow } from '../../src/language/load.ts';

/** The workflow of a text that has no error. */
export function workflowOf(text: string): Workflow {
  const { workflow, diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
  if (workflow === null) throw new Error(diagnostics.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return workflow;
}

/** The first step of a text that has no error. */
export function stepOf(lines: string): Workflow['steps'][number] {
  const indented = lines.trim().split('\n').join('\n    ');
  const [step] = workflowOf(`steps:\n  - name: a\n    ${indented}\n`).steps;
  if (step === undefined) throw new Error('no step');
  return step;
}

/** The codes of all that is said of a text. */
export function codesOf(text: string | Uint8Array): string[] {
  return loadWorkflow({ text, file: null, dir: '/' }).diagnostics.map(({ code }) => code);
}
