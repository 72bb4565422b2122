import type { Metrics } from '../daemon/metrics.ts';
import type { SystemProblem } from '../system-problem.ts';
import type { LoopLag } from './connection/loop-lag.ts';
import { sharedSchemas } from './docs/components.ts';
import type { DescribedRoute } from './docs/operation.ts';
import { withDocuments } from './docs/routes.ts';
import { healthRoute } from './health.ts';
import { metricsRoute } from './metrics-route.ts';
import type { Reply } from './route.ts';
import type { V1Parts } from './v1/parts.ts';
import { v1Routes } from './v1/routes.ts';
import { v1Schemas } from './v1/schemas.ts';
import type { V2Parts } from './v2/parts.ts';
import { v2Routes } from './v2/routes.ts';
import { v2Schemas } from './v2/schemas.ts';

/** The dependencies of routes about the daemon itself. */
export type OperationParts = {
  readonly loopLag: () => LoopLag;
  readonly metrics: Pick<Metrics, 'read'>;
  /** Returns the resource that a start lacks at present; null (the default): none. */
  readonly refusal?: () => SystemProblem | null;
  /** The document of the web page, if there is one. */
  readonly page?: Reply;
};

/** The dependencies of all routes. */
export type RouteParts = V1Parts & Omit<V2Parts, 'basePath'> & OperationParts;

/**
 * Returns the complete table of routes of the daemon. `basePath` begins with a slash and ends without one, or is empty;
 * responses that contain addresses need it.
 */
export function allRoutes(parts: RouteParts, basePath = ''): readonly DescribedRoute[] {
  const own = [healthRoute(parts.loopLag, parts.refusal ?? (() => null)), metricsRoute(parts.metrics)];
  const shared = sharedSchemas();
  return withDocuments([...v2Routes({ ...parts, basePath }), ...v1Routes(parts), ...own], {
    basePath,
    page: parts.page ?? null,
    schemas: { ...shared, ...v2Schemas(shared), ...v1Schemas },
  });
}
