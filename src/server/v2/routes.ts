import type { DescribedRoute } from '../docs/operation.ts';
import { configRoute, infoRoute } from './daemon/info.ts';
import { liveEventsRoute } from './daemon/live-events.ts';
import { queueRoute } from './daemon/queue.ts';
import { scheduleRoute } from './daemon/schedule.ts';
import { logIndexRoute } from './logs/log-index.ts';
import { runLogsRoute } from './logs/run-logs.ts';
import { searchLogsRoute } from './logs/search-logs.ts';
import { stepLogRoute } from './logs/step-log.ts';
import type { V2Parts } from './parts.ts';
import { batchRoute } from './runs/batch.ts';
import { deleteRunRoute } from './runs/delete-run.ts';
import { followEventsRoute } from './runs/follow-events.ts';
import { listRunsOfWorkflowRoute, listRunsRoute } from './runs/list-runs.ts';
import { markStepRoute } from './runs/mark-step.ts';
import { retryRunRoute } from './runs/retry-run.ts';
import { runViewRoute } from './runs/run-view.ts';
import { showRunRoute } from './runs/show-run.ts';
import { startRunRoute } from './runs/start-run.ts';
import { stopRunRoute } from './runs/stop-run.ts';
import { deleteWorkflowRoute, renameWorkflowRoute, suspendWorkflowRoute } from './workflows/change-workflow.ts';
import { workflowGridRoute } from './workflows/grid.ts';
import { listWorkflowsRoute } from './workflows/list-workflows.ts';
import { showWorkflowRoute } from './workflows/show-workflow.ts';
import { saveSourceRoute, showSourceRoute } from './workflows/source.ts';
import { validateRoute } from './workflows/validate.ts';

/** Returns the routes of the v2 API. */
export function v2Routes(parts: V2Parts): readonly DescribedRoute[] {
  return [
    listWorkflowsRoute(parts),
    showWorkflowRoute(parts),
    showSourceRoute(parts),
    saveSourceRoute(parts),
    renameWorkflowRoute(parts),
    deleteWorkflowRoute(parts),
    suspendWorkflowRoute(parts),
    workflowGridRoute(parts),
    startRunRoute(parts),
    listRunsOfWorkflowRoute(parts),
    validateRoute(parts),
    listRunsRoute(parts),
    showRunRoute(parts),
    runViewRoute(parts),
    deleteRunRoute(parts),
    batchRoute(parts),
    stopRunRoute(parts),
    retryRunRoute(parts),
    markStepRoute(parts),
    liveEventsRoute(parts),
    followEventsRoute(parts),
    runLogsRoute(parts),
    stepLogRoute(parts),
    logIndexRoute(parts),
    searchLogsRoute(parts),
    queueRoute(parts),
    scheduleRoute(parts),
    infoRoute(parts),
    configRoute(parts),
  ];
}
