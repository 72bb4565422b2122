import { basename } from 'node:path';
import { hasTag } from '#core/tags.ts';
import { quoteWord } from '#core/words/quote-word.ts';
import { diagnosticJson } from '#render/data-views.ts';
import { escapeControls } from '#render/text.ts';
import { views } from '#render/views.ts';
import type { WorkflowEntry } from '#service/service.ts';
import { workflowsIn } from '#service/workflows.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import type { Console } from '../../terminal/console.ts';

type ListOptions = AccessOptions & { readonly tag?: string };

/** Lists workflows with their last runs. */
export function listWorkflowsCommand({ json, tag, ...options }: ListOptions, console: Console): Promise<void> {
  const { out, err, outTerminal } = console;
  return withService(options, console, async (service) => {
    const all = await service.workflows.list({ wholeRuns: json === true });
    const listed = tag === undefined ? all : all.filter(({ tags }) => hasTag(tags, tag));
    if (json) {
      const entries = listed.map((entry) => ({ ...entry, diagnostics: entry.diagnostics.map(diagnosticJson) }));
      out.write(`${JSON.stringify(entries, null, 2)}\n`);
    } else if (listed.length === 0) {
      const which = tag === undefined ? '' : ` with the tag "${escapeControls(tag)}"`;
      err.write(`no workflows${which} in ${escapeControls(service.workflows.location)}\n`);
    } else {
      const { renderWorkflowList } = await views.workflows();
      out.write(renderWorkflowList(listed.map(named), outTerminal));
    }
  });
}

/** Lists workflows and first commands for `wf` alone; returns false in a directory without a workflow file. */
export async function projectCommand(console: Console): Promise<boolean> {
  const files = workflowsIn(process.cwd());
  const [file] = files.includes('workflow.yaml') ? ['workflow.yaml'] : files;
  if (file === undefined) return false;
  await listWorkflowsCommand({ server: false }, console);
  const name = escapeControls(quoteWord(file));
  const lines = [
    [`wf run ${name}`, 'run it'],
    [`wf dry ${name}`, 'print its plan, and run nothing'],
    ['wf help', 'list all commands'],
  ] as const;
  const width = Math.max(...lines.map(([line]) => line.length));
  console.out.write(`\n${lines.map(([line, does]) => `${line.padEnd(width)}  # ${does}\n`).join('')}`);
  return true;
}

/** A file here is named as a command names it. */
function named(entry: WorkflowEntry): WorkflowEntry {
  return entry.here ? { ...entry, name: basename(entry.file) } : entry;
}
