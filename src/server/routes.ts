import type { Metrics } from '#daemon/metrics.ts';
import type { SystemProblem } from '#system/errors.ts';
import type { LoopLag } from './connection/loop-lag.ts';
import { documentRoutes } from './docs/docs-routes.ts';
import { type Handler, jsonReply, type Reply, type Route } from './route.ts';
import type { V1Parts } from './v1/v1-parts.ts';
import { v1Routes } from './v1/v1-routes.ts';
import type { V2Parts } from './v2/v2-parts.ts';
import { v2Routes } from './v2/v2-routes.ts';

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

const get = { method: 'GET', body: 'none', errors: 'problem' } as const;

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
