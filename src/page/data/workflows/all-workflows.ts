import { signal } from '@preact/signals';
import type { Workflow, WorkflowDetail } from '#run-view/api/types.ts';
import { ApiProblem, api, ask } from '../../api/client.ts';
import { followLive } from '../live.ts';
import { LiveState } from '../live-state.ts';

/** The limit of workflows in one response. */
const PAGE_SIZE = 1000;

const state = new LiveState();

/** All workflows, in the order of their files; null: not read yet. They are kept between visits of the list. */
export const workflows = signal<readonly Workflow[] | null>(null);

/** The problem if the workflows could not be read. */
export const workflowsProblem = signal<ApiProblem | null>(null);

/** Reads all workflows again. */
export function readWorkflows(): Promise<void> {
  return state.read(async (read) => {
    try {
      const found = await readPages();
      read.apply(() => {
        workflows.value = found;
        workflowsProblem.value = null;
      });
    } catch (error) {
      if (!read.isObsolete()) workflowsProblem.value = ApiProblem.of(error);
    }
  });
}

/** Reads one workflow. Throws an `ApiProblem`. */
export function readWorkflow(name: string): Promise<WorkflowDetail> {
  return ask(api.GET('/api/v2/workflows/{name}', { params: { path: { name } } }));
}

/** Keeps the workflows up to date until the returned function is called. */
export function followWorkflows(): () => void {
  const events = {
    workflow: (workflow: Workflow) => {
      const replace = (each: Workflow) => (each.file === workflow.file ? workflow : each);
      state.change(() => (workflows.value = workflows.value?.map(replace) ?? null));
      // Only the daemon knows the position of a new file.
      if (workflows.value?.every(({ file }) => file !== workflow.file) ?? true) void readWorkflows();
    },
    'workflow.removed': ({ file }: { file: string }) =>
      state.change(() => (workflows.value = workflows.value?.filter((each) => each.file !== file) ?? null)),
  };
  return followLive(null, events, () => void readWorkflows());
}

let suspending: Promise<unknown> = Promise.resolve();

/**
 * Suspends the schedule of a workflow, until a time or indefinitely, or resumes it. One request follows another: the event of the
 * first may arrive before its response, and be followed by the next click.
 */
export function suspendSchedule(name: string, body: { suspended: boolean; until?: string }): Promise<unknown> {
  const send = () => ask(api.PUT('/api/v2/workflows/{name}/suspended', { params: { path: { name } }, body }));
  suspending = suspending.then(send, send);
  return suspending;
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
