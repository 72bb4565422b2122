import { api, ask } from '../api/client.ts';
import type { Workflow } from '../api/types.ts';
import { createResource } from './resource.ts';

/** As many as one answer of the API holds. */
const PAGE_SIZE = 1000;

/** All workflows, in the order of their files. */
export const workflows = createResource<readonly Workflow[]>(async () => {
  const all: Workflow[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: { workflows: readonly Workflow[]; nextCursor: string | null } = await ask(
      api.GET('/api/v2/workflows', { params: { query } }),
    );
    all.push(...page.workflows);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return all;
});

/** Whether a workflow cannot be run. */
export function isBroken({ diagnostics }: Pick<Workflow, 'diagnostics'>): boolean {
  return diagnostics.some(({ severity }) => severity === 'error');
}

/** Whether a run is under way or waits for its turn. */
export function isActive(status: string): boolean {
  return ['queued', 'running', 'canceling', 'handling'].includes(status);
}
