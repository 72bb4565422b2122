import type { DescribedRoute } from '../docs/operation.ts';
import { liveEventsRoute } from './daemon/live-events.ts';
import { runLogsRoute } from './logs/run-logs.ts';
import { stepLogRoute } from './logs/step-log.ts';
import type { V2Parts } from './parts.ts';
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

/** The project's own API. */
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
    stopRunRoute(parts),
    retryRunRoute(parts),
    markStepRoute(parts),
    liveEventsRoute(parts),
    followEventsRoute(parts),
    runLogsRoute(parts),
    stepLogRoute(parts),
  ];
}
