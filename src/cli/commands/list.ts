import { escapeControls } from '../../render/text/sanitize.ts';
import { type AccessOptions, withAccess } from '../access/open-access.ts';
import { exitCodes } from '../exit-codes.ts';
import type { Console } from '../terminal/console.ts';

/** The options of `wf list`. */
export type ListOptions = AccessOptions & { readonly json?: true };

/** Lists workflows with their last runs. */
export function listCommand({ json, ...options }: ListOptions, console: Console): Promise<number> {
  const { out, err, outTerminal } = console;
  return withAccess(options, console, async (access) => {
    const listed = await access.workflows({ wholeRuns: json === true });
    if (json) {
      out.write(`${JSON.stringify(listed, null, 2)}\n`);
    } else if (listed.length === 0) {
      err.write(`no workflows in ${escapeControls(access.workflowsPlace)}\n`);
    } else {
      const { renderWorkflowList } = await import('../../render/views/workflow-list.ts');
      out.write(renderWorkflowList(listed, outTerminal));
    }
    return exitCodes.succeeded;
  });
}
