import type { Route } from '../route.ts';
import { showActivity } from './daemon/activity.ts';
import { showConfig, showInfo } from './daemon/info.ts';
import { followAll } from './daemon/live-events.ts';
import { moveInQueue, showQueue } from './daemon/queue-routes.ts';
import { showSchedule } from './daemon/schedule-route.ts';
import { logIn, logOut, showSession } from './daemon/session.ts';
import { stepLogIndex } from './logs/log-index.ts';
import { searchLogsOfRun } from './logs/log-search.ts';
import { runLogs } from './logs/run-lines.ts';
import { stepLogRoute } from './logs/step-log.ts';
import { approveStepRoute, rejectStepRoute } from './runs/answer-step.ts';
import { deleteRunRoute, markStepRoute, retryRunRoute, startRunRoute, stopRunRoute } from './runs/run-actions.ts';
import { actOnRuns } from './runs/run-batch.ts';
import { followEventsRoute } from './runs/run-events.ts';
import { listRunsOfWorkflowRoute, listRunsRoute } from './runs/run-pages.ts';
import { showRunRoute, viewRunRoute } from './runs/show-run.ts';
import type { V2Parts } from './v2-parts.ts';
import { deleteWorkflow, renameWorkflow, suspendWorkflow } from './workflows/change-workflow.ts';
import { workflowGrid } from './workflows/grid.ts';
import { showWorkflowRoute, validateRoute } from './workflows/show-workflow.ts';
import { saveSource, showSource } from './workflows/source.ts';
import { listWorkflowsRoute } from './workflows/workflow-pages.ts';

const get = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;
const post = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'problem' } as const;
const put = { ...post, method: 'PUT' } as const;
const remove = { ...post, method: 'DELETE', body: 'none' } as const;

/** Returns the routes of the v2 API. */
export function v2Routes(parts: V2Parts): readonly Route[] {
  const workflow = '/api/v2/workflows/{name}';
  const run = '/api/v2/runs/{id}';
  return [
    { ...get, path: '/api/v2/workflows', handle: listWorkflowsRoute(parts) },
    { ...get, path: workflow, handle: showWorkflowRoute(parts) },
    { ...get, path: `${workflow}/source`, handle: showSource(parts) },
    { ...put, path: `${workflow}/source`, handle: saveSource(parts), body: 'text' },
    { ...post, path: `${workflow}/rename`, handle: renameWorkflow(parts) },
    { ...remove, path: workflow, handle: deleteWorkflow(parts) },
    { ...put, path: `${workflow}/suspended`, handle: suspendWorkflow(parts) },
    { ...get, path: `${workflow}/grid`, handle: workflowGrid(parts) },
    { ...post, path: `${workflow}/runs`, handle: startRunRoute(parts) },
    { ...get, path: `${workflow}/runs`, handle: listRunsOfWorkflowRoute(parts) },
    { ...post, path: '/api/v2/validate', handle: validateRoute(parts), body: 'text' },
    { ...get, path: '/api/v2/runs', handle: listRunsRoute(parts) },
    { ...get, path: run, handle: showRunRoute(parts) },
    { ...get, path: `${run}/view`, handle: viewRunRoute(parts) },
    { ...remove, path: run, handle: deleteRunRoute(parts) },
    { ...post, path: '/api/v2/runs/batch', handle: actOnRuns(parts), body: 'json' },
    { ...post, path: `${run}/stop`, handle: stopRunRoute(parts) },
    { ...post, path: `${run}/retry`, handle: retryRunRoute(parts) },
    { ...post, path: `${run}/steps/{step}/mark`, handle: markStepRoute(parts) },
    { ...post, path: `${run}/steps/{step}/approve`, handle: approveStepRoute(parts) },
    { ...post, path: `${run}/steps/{step}/reject`, handle: rejectStepRoute(parts) },
    { ...get, path: '/api/v2/events', handle: followAll(parts) },
    { ...get, path: `${run}/events`, handle: followEventsRoute(parts) },
    { ...get, path: `${run}/logs`, handle: runLogs(parts) },
    { ...get, path: `${run}/steps/{step}/logs`, handle: stepLogRoute(parts) },
    { ...get, path: `${run}/steps/{step}/logs/index`, handle: stepLogIndex(parts) },
    { ...get, path: `${run}/logs/search`, handle: searchLogsOfRun(parts) },
    { ...get, path: '/api/v2/queue', handle: showQueue(parts) },
    { ...put, path: '/api/v2/queue/{id}', handle: moveInQueue(parts) },
    { ...get, path: '/api/v2/schedule', handle: showSchedule(parts) },
    { ...get, path: '/api/v2/activity', handle: showActivity(parts) },
    { ...get, path: '/api/v2/info', handle: showInfo(parts) },
    { ...get, path: '/api/v2/config', handle: showConfig(parts) },
    { ...get, path: '/api/v2/session', handle: showSession, access: 'public' },
    { ...post, path: '/api/v2/session', handle: logIn, access: 'public', body: 'json' },
    { ...remove, path: '/api/v2/session', handle: logOut, access: 'read' },
  ];
}
