import type { ListedWorkflow } from '../../../service/workflows/listed-workflow.ts';
import type { ApiRequest } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';
import { fileJson, presentJson, presentView } from './workflow-json.ts';

/** Workflows as a list has them, in JSON, and until when that stays true without a change of a file or a run. */
export type WorkflowItems = (
  listed: ListedWorkflow,
  access: ApiRequest['access'],
) => { readonly text: string; readonly validUntil: number };

/** Schedules are read a little later than files. */
const scheduleDelayMs = 1000;

/** Keeps what files say, ready to be sent, for as long as the catalog keeps them. */
export function createWorkflowItems(parts: Pick<V2Parts, 'workflows' | 'runIndex' | 'clock'>): WorkflowItems {
  const texts = { read: new WeakMap<ListedWorkflow, string>(), write: new WeakMap<ListedWorkflow, string>() };
  return (listed, access) => {
    const text = texts[access].get(listed) ?? JSON.stringify(fileJson(listed, access, parts));
    texts[access].set(listed, text);
    const present = presentView(listed, parts);
    const isAwaited = listed.workflow !== null && listed.workflow.schedule.start.length > 0;
    const soon = isAwaited ? parts.clock.now() + scheduleDelayMs : Number.POSITIVE_INFINITY;
    return {
      text: `${text.slice(0, -1)},${JSON.stringify(presentJson(listed, present, parts)).slice(1)}`,
      validUntil: present.next?.getTime() ?? soon,
    };
  };
}
