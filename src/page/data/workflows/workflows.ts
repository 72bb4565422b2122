import { type ReadonlySignal, signal } from '@preact/signals';
import { api, ask } from '../../api/client.ts';
import { ApiProblem } from '../../api/problem.ts';
import type { Workflow } from '../../api/types.ts';
import { followLive } from '../live.ts';

/** The limit of workflows in one response. */
const PAGE_SIZE = 1000;

const all = signal<readonly Workflow[] | null>(null);
const failure = signal<ApiProblem | null>(null);

/** All workflows, in the order of their files; null: not read yet. They are kept between visits of the list. */
export const workflows: ReadonlySignal<readonly Workflow[] | null> = all;

/** The problem if the workflows could not be read. */
export const workflowsProblem: ReadonlySignal<ApiProblem | null> = failure;

/** Reads all workflows again. */
export async function readWorkflows(): Promise<void> {
  try {
    all.value = await readPages();
    failure.value = null;
  } catch (error) {
    failure.value = ApiProblem.of(error);
  }
}

/** Keeps the workflows up to date until the returned function is called. */
export function followWorkflows(): () => void {
  const events = {
    workflow: (workflow: Workflow) => {
      const known = all.value?.findIndex(({ file }) => file === workflow.file) ?? -1;
      // Only the daemon knows the position of a new file.
      if (known === -1) void readWorkflows();
      else all.value = all.value?.with(known, workflow) ?? null;
    },
    'workflow.removed': ({ file }: { file: string }) => {
      all.value = all.value?.filter((workflow) => workflow.file !== file) ?? null;
    },
  };
  return followLive(null, events, () => void readWorkflows());
}

/** Suspends the schedule of a workflow, until a time or indefinitely, or resumes it. */
export async function suspendSchedule(name: string, body: { suspended: boolean; until?: string }): Promise<void> {
  await ask(api.PUT('/api/v2/workflows/{name}/suspended', { params: { path: { name } }, body }));
}

async function readPages(): Promise<readonly Workflow[]> {
  const read: Workflow[] = [];
  let cursor: string | null = null;
  do {
    const query: { limit: number; cursor?: string } = { limit: PAGE_SIZE, ...(cursor === null ? {} : { cursor }) };
    const page: { workflows: readonly Workflow[]; nextCursor: string | null } = await ask(
      api.GET('/api/v2/workflows', { params: { query } }),
    );
    read.push(...page.workflows);
    cursor = page.nextCursor;
  } while (cursor !== null);
  return read;
}
