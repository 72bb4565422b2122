import type { Metrics } from '#daemon/metrics.ts';
import type { SystemProblem } from '#system/errors.ts';
import type { LoopLag } from './connection/load-limits.ts';
import { documentRoutes } from './docs/docs-routes.ts';
import { type Handler, jsonReply, type Reply, type Route } from './route.ts';
import { actOnDag, createDag, deleteDag, listTags, searchDags, showSpec } from './v1/dag-actions.ts';
import { listDags, showDag } from './v1/dag-pages.ts';
import type { V1Parts } from './v1/v1-parts.ts';
import {
  logIn,
  logOut,
  moveInQueue,
  showActivity,
  showConfig,
  showInfo,
  showQueue,
  showSchedule,
  showSession,
} from './v2/daemon/daemon-routes.ts';
import { followAll } from './v2/daemon/live-events.ts';
import { runLogs, searchLogsOfRun } from './v2/logs/log-pages.ts';
import { stepLogIndex, stepLogRoute } from './v2/logs/step-log.ts';
import { followEventsRoute } from './v2/runs/run-events.ts';
import {
  actOnRuns,
  approveStepRoute,
  deleteRunRoute,
  markStepRoute,
  rejectStepRoute,
  retryRunRoute,
  startRunRoute,
  stopRunRoute,
} from './v2/runs/run-orders.ts';
import {
  listRunsOfWorkflowRoute,
  listRunsRoute,
  showRunRoute,
  viewRunRoute,
  workflowGrid,
} from './v2/runs/run-pages.ts';
import type { V2Parts } from './v2/v2-parts.ts';
import {
  deleteWorkflow,
  renameWorkflow,
  saveSource,
  showSource,
  suspendWorkflow,
} from './v2/workflows/change-workflow.ts';
import { listWorkflowsRoute, showWorkflowRoute, validateRoute } from './v2/workflows/workflow-pages.ts';

/** The dependencies of routes about the daemon itself. */
type OperationParts = {
  readonly metrics: Pick<Metrics, 'read'>;
  /** Returns the resource that a start lacks at present; null (the default): none. */
  readonly refusal?: () => SystemProblem | null;
  /** The document of the web page, if there is one. */
  readonly page?: Reply;
};

/** The dependencies of all routes. */
type RouteParts = V1Parts & Omit<V2Parts, 'basePath'> & OperationParts;

/**
 * Returns the complete table of routes of the daemon, which `openapi/` describes. `basePath` begins with a slash and ends
 * without one, or is empty; responses that contain addresses need it.
 */
export function allRoutes(parts: RouteParts, basePath = ''): readonly Route[] {
  return [
    ...[...v2Routes({ ...parts, basePath }), ...v1Routes(parts)].map((route) => seeking(route, parts)),
    { ...get, path: '/health', access: 'public', handle: health(parts.loopLag, parts.refusal ?? (() => null)) },
    { ...get, path: '/metrics', access: 'read', handle: metrics(parts.metrics) },
    ...documentRoutes({ basePath, page: parts.page ?? null }),
  ];
}

/**
 * Looks for new files before a workflow counts as unknown: its file may have been written just now. The route runs once,
 * after that.
 */
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

/** Returns the routes of the v2 API. */
function v2Routes(parts: V2Parts): readonly Route[] {
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

const getV1 = { method: 'GET', access: 'read', body: 'none', errors: 'v1' } as const;
const postV1 = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'v1' } as const;
const removeV1 = { ...postV1, method: 'DELETE', body: 'none' } as const;

/** Returns the routes for clients of Blackdagger 2 and Dagu 1. */
function v1Routes(parts: V1Parts): readonly Route[] {
  return [
    { ...getV1, path: '/api/v1/dags', handle: listDags(parts) },
    { ...postV1, path: '/api/v1/dags', handle: createDag(parts) },
    { ...getV1, path: '/api/v1/dags/{name}', handle: showDag(parts) },
    { ...postV1, path: '/api/v1/dags/{name}', handle: actOnDag(parts) },
    { ...removeV1, path: '/api/v1/dags/{name}', handle: deleteDag(parts) },
    { ...getV1, path: '/api/v1/dags/{name}/spec', handle: showSpec(parts) },
    { ...getV1, path: '/api/v1/search', handle: searchDags(parts) },
    { ...getV1, path: '/api/v1/tags', handle: listTags(parts) },
  ];
}
