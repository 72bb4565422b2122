import type { Change } from '../../../service/served.ts';
import type { ListedWorkflow } from '../../../service/workflows/listed-workflow.ts';
import { eventFrame } from '../../reply/event-stream.ts';
import type { ApiRequest } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';
import { createWorkflowItems } from '../workflows/workflow-items.ts';
import { nextMoments } from './schedule-route.ts';

/** Changes as events: the present state of what has changed, as the lists have it. */
export type LiveFrames = (change: Change, access: ApiRequest['access'], id: string) => string;

/** Frames for all streams of a server. */
export function createLiveFrames(parts: V2Parts): LiveFrames {
  const items = createWorkflowItems(parts);
  const listedOf = byFile(parts.workflows);
  return (change, access, id) => {
    switch (change.kind) {
      case 'daemon':
        return eventFrame({ id, event: 'daemon', data: JSON.stringify(parts.changes.daemon()) });
      case 'queue':
        return eventFrame({ id, event: 'queue', data: JSON.stringify(queueView(parts.queue())) });
      case 'schedule':
        return eventFrame({ id, event: 'schedule', data: JSON.stringify(nextMoments(parts)) });
      case 'run': {
        const run = parts.runIndex.headOf(change.runId);
        if (run !== null) return eventFrame({ id, event: 'run', data: JSON.stringify(run) });
        return eventFrame({ id, event: 'run.removed', data: JSON.stringify({ runId: change.runId }) });
      }
      case 'workflow': {
        const listed = listedOf(change.file);
        if (listed !== null) return eventFrame({ id, event: 'workflow', data: items(listed, access).text });
        return eventFrame({ id, event: 'workflow.removed', data: JSON.stringify({ file: change.file }) });
      }
    }
  };
}

function byFile({ list, version }: V2Parts['workflows']): (file: string) => ListedWorkflow | null {
  let madeOf: number | null = null;
  let files = new Map<string, ListedWorkflow>();
  return (file) => {
    if (madeOf !== version()) files = new Map(list().map((listed) => [listed.file, listed]));
    madeOf = version();
    return files.get(file) ?? null;
  };
}

/** The queue by the ids of its runs, whose heads are events of their own. */
function queueView({ limit, running, waiting }: ReturnType<V2Parts['queue']>): object {
  return { limit: Number.isFinite(limit) ? limit : null, running, waiting };
}
