import type { Workflow } from '#run-view/api/types.ts';
import { isActive, isBroken } from './workflow-state.ts';

/** The filters of the list of workflows: a text, a tag, a status. */
export type WorkflowFilter = { readonly find: string; readonly tag: string; readonly only: string };

/** The statuses offered by the filter. */
export const filters = ['failed', 'running', 'broken'] as const;
export type FilterName = (typeof filters)[number];

/** Whether a workflow has the status of a filter. */
export function matches(workflow: Workflow, name: FilterName): boolean {
  switch (name) {
    case 'broken':
      return isBroken(workflow);
    case 'failed':
      return workflow.lastRun?.status === 'failed';
    case 'running':
      return workflow.lastRun !== null && isActive(workflow.lastRun.status);
  }
}

/** The workflows that match a filter: broken ones first, then in their order. */
export function filterWorkflows(workflows: readonly Workflow[], filter: WorkflowFilter): readonly Workflow[] {
  const only = filters.find((name) => name === filter.only);
  const text = filter.find.trim().toLowerCase();
  const left = workflows.filter(
    (workflow) =>
      (only === undefined || matches(workflow, only)) &&
      (filter.tag === '' || workflow.tags.includes(filter.tag)) &&
      (text === '' || textOf(workflow).includes(text)),
  );
  return [...left.filter(isBroken), ...left.filter((workflow) => !isBroken(workflow))];
}

function textOf({ id, name, description, tags }: Workflow): string {
  return [id, name, description, ...tags].join('\n').toLowerCase();
}
