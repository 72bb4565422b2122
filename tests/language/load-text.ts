import type { Workflow } from '#core/workflow.ts';
import { loadWorkflow } from '#language/load.ts';

/** Loads the workflow of a text without errors. */
export function workflowOf(text: string): Workflow {
  const { workflow, diagnostics } = loadWorkflow({ text, file: null, dir: '/' });
  if (workflow === null) throw new Error(diagnostics.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return workflow;
}

/** Loads the first step of a text without errors. */
export function stepOf(lines: string): Workflow['steps'][number] {
  const indented = lines.trim().split('\n').join('\n    ');
  const [step] = workflowOf(`steps:\n  - name: a\n    ${indented}\n`).steps;
  if (step === undefined) throw new Error('no step');
  return step;
}

/** The codes of all diagnostics of a text. */
export function codesOf(text: string | Uint8Array): string[] {
  return loadWorkflow({ text, file: null, dir: '/' }).diagnostics.map(({ code }) => code);
}
