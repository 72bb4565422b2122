import { dirname } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { workflowDirectories } from '#config/config.ts';
import type { Workflow } from '#core/workflow.ts';
import { convertedText } from '#language/forms/convert.ts';
import { escapeControls, shellQuote } from '#render/text.ts';
import { getWorkflow, readWorkflow, type WorkflowDirectories } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { CommonOptions } from '../../program/add-command.ts';
import { configFor, workflowReference } from '../../reference.ts';
import { printWarnings } from '../../run/foreground.ts';
import type { Console } from '../../terminal/console.ts';
import { writeNew } from '../../terminal/write-file.ts';

type ConvertOptions = CommonOptions & { readonly name: string; readonly output?: string; readonly force?: true };

/**
 * Writes a workflow file of another form with the keys of wf. Throws an `InvalidWorkflow` for a file with errors, and a
 * `WfError` `usage` if the text would be another workflow.
 */
export async function convertCommand(options: ConvertOptions, console: Console): Promise<void> {
  const { name, output = '-', force } = options;
  if (force && output === '-') throw new WfError('usage', '--force requires --output');
  const directories = workflowDirectories(configFor(options));
  const { workflow, warnings, sources } = getWorkflow(workflowReference(name), directories);
  await printWarnings({ warnings, sources }, 'plain', console);
  const source = sources[0] ?? { path: '-', text: '' };
  const text = convertedText(source);
  const beside = workflow.file === null ? directories : { ...directories, cwd: dirname(workflow.file) };
  if (text !== null) requireSame(source.text, text, beside);
  else console.err.write(`${escapeControls(name)} has only keys of wf: nothing is changed\n`);
  if (output === '-') console.out.write(text ?? source.text);
  else {
    writeNew(output, text ?? source.text, force === true);
    console.out.write(`wrote ${escapeControls(output)}: wf run ${shellQuote(output)} runs it\n`);
  }
}

/** Both texts are read as files of the same directory. */
function requireSame(before: string, after: string, directories: WorkflowDirectories): void {
  const [known, made] = [before, after].map((text) => readWorkflow({ text: Buffer.from(text) }, directories));
  if (isDeepStrictEqual(known?.workflow, made?.workflow)) return;
  const [error] = made?.diagnostics.filter(({ severity }) => severity === 'error') ?? [];
  const what = error === undefined ? differingStep(known?.workflow ?? null, made?.workflow ?? null) : error.message;
  throw new WfError('usage', `the file cannot be written with the keys of wf: ${what}`, {
    help: 'wf runs it as it is',
  });
}

function differingStep(before: Workflow | null, after: Workflow | null): string {
  const steps = before?.steps.filter((step, index) => !isDeepStrictEqual(step, after?.steps[index])) ?? [];
  const [step] = steps;
  return step === undefined ? 'its settings would differ' : `step "${step.name}" would differ`;
}
