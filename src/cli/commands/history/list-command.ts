import { hasTag } from '../../../core/tags.ts';
import { escapeControls } from '../../../render/text/sanitize.ts';
import { diagnosticJson } from '../../../render/views/diagnostic-json.ts';
import type { WorkflowEntry } from '../../../service/service.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import { exitCodes } from '../../exit-codes.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf list`. */
export type ListOptions = AccessOptions & { readonly json?: true; readonly tag?: string };

/** Lists workflows with their last runs. */
export function listWorkflowsCommand({ json, tag, ...options }: ListOptions, console: Console): Promise<number> {
  const { out, err, outTerminal } = console;
  return withService(options, console, async (service) => {
    const all = await service.workflows.list({ wholeRuns: json === true });
    const listed = tag === undefined ? all : all.filter(({ tags }) => hasTag(tags, tag));
    if (json) {
      out.write(`${JSON.stringify(listed.map(entryJson), null, 2)}\n`);
    } else if (listed.length === 0) {
      const which = tag === undefined ? '' : ` with the tag "${escapeControls(tag)}"`;
      err.write(`no workflows${which} in ${escapeControls(service.workflows.location)}\n`);
    } else {
      const { renderWorkflowList } = await import('../../../render/views/workflow-list.ts');
      out.write(renderWorkflowList(listed, outTerminal));
    }
    return exitCodes.succeeded;
  });
}

function entryJson(entry: WorkflowEntry): object {
  return { ...entry, diagnostics: entry.diagnostics.map(diagnosticJson) };
}
