import type { Workflow } from '../../core/workflow.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import type { ApiRequest } from '../route.ts';

type Shown = Pick<ListedWorkflow, 'workflow' | 'diagnostics'>;

/**
 * The diagnostics of a workflow as a login may see them: a message can quote any value of the file. A read-only login gets the
 * messages of a valid file with its secrets masked; of a broken file, whose secrets cannot be told from the rest, it gets the kind
 * and the position of each problem alone.
 */
export function shownDiagnostics(
  { workflow, diagnostics }: Shown,
  access: ApiRequest['access'],
  { shownText }: { readonly shownText: (text: string, workflow: Workflow) => string },
): ListedWorkflow['diagnostics'] {
  if (access === 'write') return diagnostics;
  if (workflow === null) {
    return diagnostics.map((each) => {
      return { ...each, message: `${each.code} (withheld from a read-only login)`, label: '', related: [], help: null };
    });
  }
  const masked = (text: string) => shownText(text, workflow);
  return diagnostics.map((each) => {
    const { message, label, help } = each;
    return { ...each, message: masked(message), label: masked(label), help: help === null ? null : masked(help) };
  });
}
