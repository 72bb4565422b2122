import type { Route } from '../route.ts';
import { showConfig, showInfo } from './daemon/info.ts';
import { followAll } from './daemon/live-events.ts';
import { moveInQueue, showQueue } from './daemon/queue.ts';
import { showSchedule } from './daemon/schedule.ts';
import { logIn, logOut, showSession } from './daemon/session.ts';
import { stepLogIndex } from './logs/log-index.ts';
import { runLogs } from './logs/run-logs.ts';
import { searchLogsOfRun } from './logs/search-logs.ts';
import { stepLog } from './logs/step-log.ts';
import type { V2Parts } from './parts.ts';
import { actOnRuns } from './runs/batch.ts';
import { deleteRun } from './runs/delete-run.ts';
import { followEvents } from './runs/follow-events.ts';
import { listRuns, listRunsOfWorkflow } from './runs/list-runs.ts';
import { markStep } from './runs/mark-step.ts';
import { retryRun } from './runs/retry-run.ts';
import { viewRun } from './runs/run-view.ts';
import { showRun } from './runs/show-run.ts';
import { startRun } from './runs/start-run.ts';
import { stopRun } from './runs/stop-run.ts';
import { deleteWorkflow, renameWorkflow, suspendWorkflow } from './workflows/change-workflow.ts';
import { workflowGrid } from './workflows/grid.ts';
import { listWorkflows } from './workflows/list-workflows.ts';
import { showWorkflow } from './workflows/show-workflow.ts';
import { saveSource, showSource } from './workflows/source.ts';
import { validate } from './workflows/validate.ts';

const get = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;
const post = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'problem' } as const;
const put = { ...post, method: 'PUT' } as const;
const remove = { ...post, method: 'DELETE', body: 'none' } as const;

/** Returns the routes of the v2 API. */
export function v2Routes(parts: V2Parts): readonly Route[] {
  const workflow = '/api/v2/workflows/{name}';
  const run = '/api/v2/runs/{id}';
  return [
    { ...get, path: '/api/v2/workflows', handle: listWorkflows(parts) },
    { ...get, path: workflow, handle: showWorkflow(parts) },
    { ...get, path: `${workflow}/source`, handle: showSource(parts) },
    { ...put, path: `${workflow}/source`, handle: saveSource(parts), body: 'text' },
    { ...post, path: `${workflow}/rename`, handle: renameWorkflow(parts) },
    { ...remove, path: workflow, handle: deleteWorkflow(parts) },
    { ...put, path: `${workflow}/suspended`, handle: suspendWorkflow(parts) },
    { ...get, path: `${workflow}/grid`, handle: workflowGrid(parts) },
    { ...post, path: `${workflow}/runs`, handle: startRun(parts) },
    { ...get, path: `${workflow}/runs`, handle: listRunsOfWorkflow(parts) },
    { ...post, path: '/api/v2/validate', handle: validate(parts), body: 'text' },
    { ...get, path: '/api/v2/runs', handle: listRuns(parts) },
    { ...get, path: run, handle: showRun(parts) },
    { ...get, path: `${run}/view`, handle: viewRun(parts) },
    { ...remove, path: run, handle: deleteRun(parts) },
    { ...post, path: '/api/v2/runs/batch', handle: actOnRuns(parts), body: 'json' },
    { ...post, path: `${run}/stop`, handle: stopRun(parts), body: 'none' },
    { ...post, path: `${run}/retry`, handle: retryRun(parts) },
    { ...post, path: `${run}/steps/{step}/mark`, handle: markStep(parts) },
    { ...get, path: '/api/v2/events', handle: followAll(parts) },
    { ...get, path: `${run}/events`, handle: followEvents(parts) },
    { ...get, path: `${run}/logs`, handle: runLogs(parts) },
    { ...get, path: `${run}/steps/{step}/logs`, handle: stepLog(parts) },
    { ...get, path: `${run}/steps/{step}/logs/index`, handle: stepLogIndex(parts) },
    { ...get, path: `${run}/logs/search`, handle: searchLogsOfRun(parts) },
    { ...get, path: '/api/v2/queue', handle: showQueue(parts) },
    { ...put, path: '/api/v2/queue/{id}', handle: moveInQueue(parts) },
    { ...get, path: '/api/v2/schedule', handle: showSchedule(parts) },
    { ...get, path: '/api/v2/info', handle: showInfo(parts) },
    { ...get, path: '/api/v2/config', handle: showConfig(parts) },
    { ...get, path: '/api/v2/session', handle: showSession, access: 'public' },
    { ...post, path: '/api/v2/session', handle: logIn, access: 'public', body: 'json' },
    { ...remove, path: '/api/v2/session', handle: logOut, access: 'read' },
  ];
}
