import type { Workflow } from '#core/workflow.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import type { ApiRequest } from '../route.ts';

type Shown = Pick<ListedWorkflow, 'workflow' | 'diagnostics'>;

/**
 * Returns the diagnostics that a login may read, since a message can quote any value of the file. A read-only login gets
 * the messages of a valid file with masked secrets; of an invalid file, whose secrets cannot be identified, it gets only
 * the code and position of each problem.
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
