import type { DescribedRoute } from '../openapi/operation.ts';
import { followEventsRoute } from './follow-events.ts';
import { listRunsOfWorkflowRoute, listRunsRoute } from './list-runs.ts';
import { listWorkflowsRoute } from './list-workflows.ts';
import { markStepRoute } from './mark-step.ts';
import type { V2Parts } from './parts.ts';
import { retryRunRoute } from './retry-run.ts';
import { runLogsRoute } from './run-logs.ts';
import { showRunRoute } from './show-run.ts';
import { showWorkflowRoute } from './show-workflow.ts';
import { startRunRoute } from './start-run.ts';
import { stepLogRoute } from './step-log.ts';
import { stopRunRoute } from './stop-run.ts';
import { validateRoute } from './validate.ts';

/** The project's own API. */
export function v2Routes(parts: V2Parts): readonly DescribedRoute[] {
  return [
    listWorkflowsRoute(parts),
    showWorkflowRoute(parts),
    startRunRoute(parts),
    listRunsOfWorkflowRoute(parts),
    validateRoute(parts),
    listRunsRoute(parts),
    showRunRoute(parts),
    stopRunRoute(parts),
    retryRunRoute(parts),
    markStepRoute(parts),
    followEventsRoute(parts),
    runLogsRoute(parts),
    stepLogRoute(parts),
  ];
}
