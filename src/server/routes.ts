import type { Metrics } from '#daemon/metrics.ts';
import type { SystemProblem } from '#system/errors.ts';
import type { LoopLag } from './connection/load-limits.ts';
import { documentRoutes } from './docs/docs-routes.ts';
import { type ApiRequest, type Handler, jsonReply, type Reply, type Route } from './route.ts';
import { actOnDag, createDag, deleteDag, listTags, searchDags, showSpec } from './v1/dag-actions.ts';
import { listDags, showDag } from './v1/dag-pages.ts';
import type { V1Handler, V1Parts } from './v1/v1-parts.ts';
import {
  logIn,
  logOut,
  moveInQueue,
  showActivity,
  showConfig,
  showInfo,
  showLocks,
  showQueue,
  showSchedule,
  showSession,
} from './v2/daemon/daemon-routes.ts';
import { followAll } from './v2/daemon/live-events.ts';
import { runLogs, searchLogsOfRun, storeLog } from './v2/logs/log-pages.ts';
import { stepLog, stepLogIndex } from './v2/logs/step-log.ts';
import { showArtifact, showArtifacts } from './v2/runs/artifact-routes.ts';
import { followEvents } from './v2/runs/run-events.ts';
import {
  actOnRuns,
  approveStep,
  deleteRun,
  markStep,
  rejectStep,
  retryRun,
  startRun,
  stopRun,
} from './v2/runs/run-orders.ts';
import { listRuns, listRunsOfWorkflow, showRun, viewRun, workflowGrid } from './v2/runs/run-pages.ts';
import type { V2Handler, V2Parts } from './v2/v2-parts.ts';
import { showBackfill, startBackfill, stopBackfill } from './v2/workflows/backfill-routes.ts';
import {
  deleteWorkflow,
  renameWorkflow,
  saveSource,
  showSource,
  suspendWorkflow,
} from './v2/workflows/change-workflow.ts';
import { listWorkflows, showWorkflow, validate } from './v2/workflows/workflow-pages.ts';

/** The dependencies of routes about the daemon itself. */
type OperationParts = {
  readonly metrics: Pick<Metrics, 'read'>;
  /** Returns the resource that a start lacks at present; null (the default): none. */
  readonly refusal?: () => SystemProblem | null;
  readonly page?: Reply;
};

type RouteParts = V1Parts & Omit<V2Parts, 'basePath'> & OperationParts;

/** Returns all routes of the daemon, which `openapi/` describes; `basePath` is empty or begins with a slash. */
export function allRoutes(parts: RouteParts, basePath = ''): readonly Route[] {
  return [
    ...[...v2Routes({ ...parts, basePath }), ...v1Routes(parts)].map((route) => seeking(route, parts)),
    { ...get, path: '/health', access: 'public', handle: health(parts.loopLag, parts.refusal ?? (() => null)) },
    { ...get, path: '/metrics', access: 'read', handle: metrics(parts.metrics) },
    ...documentRoutes({ basePath, page: parts.page ?? null }),
  ];
}

/** Looks for new files before a workflow counts as unknown: its file may have been written just now. */
function seeking(route: Route, { workflows }: Pick<RouteParts, 'workflows'>): Route {
  if (!route.path.includes('{name}')) return route;
  return {
    ...route,
    handle: async (request) => {
      await workflows.seek(request.params['name'] ?? '');
      return route.handle(request);
    },
  };
}

/** `GET /metrics`. They contain names of workflows, so the route requires the configured login. */
function metrics({ read }: OperationParts['metrics']): Handler {
  return async () => {
    const { contentType, text } = await read();
    return { status: 200, headers: { 'Content-Type': contentType }, body: text };
  };
}

/** `GET /health`, which a supervisor uses without a login. */
function health(loopLag: () => LoopLag, refusal: () => SystemProblem | null): Handler {
  return () => {
    const problem = refusal();
    if (problem === null) return jsonReply({ status: 'ok', eventLoopLagMs: loopLag() });
    const status = problem.status === 507 ? 507 : 503;
    const body = { status: 'failing', problem: problem.message, eventLoopLagMs: loopLag() };
    return { ...jsonReply(body), status };
  };
}

const get = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;
const post = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'problem' } as const;
const put = { ...post, method: 'PUT' } as const;
const remove = { ...post, method: 'DELETE', body: 'none' } as const;

function bound<Parts>(handle: (request: ApiRequest, parts: Parts) => Promise<Reply> | Reply, parts: Parts): Handler {
  return (request) => handle(request, parts);
}

function v2Routes(parts: V2Parts): readonly Route[] {
  const on = (handle: V2Handler) => bound(handle, parts);
  const workflow = '/api/v2/workflows/{name}';
  const run = '/api/v2/runs/{id}';
  return [
    { ...get, path: '/api/v2/workflows', handle: listWorkflows(parts) },
    { ...get, path: workflow, handle: on(showWorkflow) },
    { ...get, path: `${workflow}/source`, handle: on(showSource) },
    { ...put, path: `${workflow}/source`, handle: on(saveSource), body: 'text' },
    { ...post, path: `${workflow}/rename`, handle: on(renameWorkflow) },
    { ...remove, path: workflow, handle: on(deleteWorkflow) },
    { ...put, path: `${workflow}/suspended`, handle: on(suspendWorkflow) },
    { ...get, path: `${workflow}/grid`, handle: on(workflowGrid) },
    { ...post, path: `${workflow}/runs`, handle: on(startRun) },
    { ...get, path: `${workflow}/runs`, handle: on(listRunsOfWorkflow) },
    { ...post, path: `${workflow}/backfills`, handle: on(startBackfill) },
    { ...get, path: '/api/v2/backfills/{id}', handle: on(showBackfill) },
    { ...remove, path: '/api/v2/backfills/{id}', handle: on(stopBackfill) },
    { ...post, path: '/api/v2/validate', handle: on(validate), body: 'text' },
    { ...get, path: '/api/v2/runs', handle: on(listRuns) },
    { ...get, path: run, handle: on(showRun) },
    { ...get, path: `${run}/view`, handle: viewRun(parts) },
    { ...remove, path: run, handle: on(deleteRun) },
    { ...post, path: '/api/v2/runs/batch', handle: on(actOnRuns), body: 'json' },
    { ...post, path: `${run}/stop`, handle: on(stopRun) },
    { ...post, path: `${run}/retry`, handle: on(retryRun) },
    { ...post, path: `${run}/steps/{step}/mark`, handle: on(markStep) },
    { ...post, path: `${run}/steps/{step}/approve`, handle: on(approveStep) },
    { ...post, path: `${run}/steps/{step}/reject`, handle: on(rejectStep) },
    { ...get, path: '/api/v2/events', handle: followAll(parts) },
    { ...get, path: `${run}/events`, handle: on(followEvents) },
    { ...get, path: `${run}/logs`, handle: on(runLogs) },
    { ...put, path: `${run}/logs/{step}/{attempt}`, handle: on(storeLog), access: 'worker', body: 'bytes' },
    { ...get, path: `${run}/steps/{step}/logs`, handle: on(stepLog) },
    { ...get, path: `${run}/steps/{step}/logs/index`, handle: stepLogIndex(parts) },
    { ...get, path: `${run}/artifacts`, handle: on(showArtifacts) },
    { ...get, path: `${run}/artifacts/{step}/{path}`, handle: on(showArtifact) },
    { ...get, path: `${run}/logs/search`, handle: on(searchLogsOfRun) },
    { ...get, path: '/api/v2/queue', handle: on(showQueue) },
    { ...get, path: '/api/v2/locks', handle: on(showLocks) },
    { ...put, path: '/api/v2/queue/{id}', handle: on(moveInQueue) },
    { ...get, path: '/api/v2/schedule', handle: on(showSchedule) },
    { ...get, path: '/api/v2/activity', handle: on(showActivity) },
    { ...get, path: '/api/v2/info', handle: on(showInfo) },
    { ...get, path: '/api/v2/config', handle: on(showConfig) },
    { ...get, path: '/api/v2/session', handle: showSession, access: 'public' },
    { ...post, path: '/api/v2/session', handle: logIn, access: 'public', body: 'json' },
    { ...remove, path: '/api/v2/session', handle: logOut, access: 'read' },
  ];
}

const getV1 = { method: 'GET', access: 'read', body: 'none', errors: 'v1' } as const;
const postV1 = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'v1' } as const;
const removeV1 = { ...postV1, method: 'DELETE', body: 'none' } as const;

/** Returns the routes for clients of Blackdagger 2 and Dagu 1. */
function v1Routes(parts: V1Parts): readonly Route[] {
  const on = (handle: V1Handler) => bound(handle, parts);
  return [
    { ...getV1, path: '/api/v1/dags', handle: listDags(parts) },
    { ...postV1, path: '/api/v1/dags', handle: on(createDag) },
    { ...getV1, path: '/api/v1/dags/{name}', handle: on(showDag) },
    { ...postV1, path: '/api/v1/dags/{name}', handle: on(actOnDag) },
    { ...removeV1, path: '/api/v1/dags/{name}', handle: on(deleteDag) },
    { ...getV1, path: '/api/v1/dags/{name}/spec', handle: on(showSpec) },
    { ...getV1, path: '/api/v1/search', handle: on(searchDags) },
    { ...getV1, path: '/api/v1/tags', handle: on(listTags) },
  ];
}
