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

/** What tells how the daemon itself is. */
export type OperationParts = {
  readonly loopLag: () => LoopLag;
  readonly metrics: Pick<Metrics, 'read'>;
  /** What the machine would refuse a start now; null for nothing, which is also what is taken where it is not given. */
  readonly refusal?: () => SystemProblem | null;
  /** The document of the web page; not given where there is none. */
  readonly page?: Reply;
};

/** What all routes together work with. */
export type RouteParts = V1Parts & Omit<V2Parts, 'basePath'> & OperationParts;

/**
 * Everything that the daemon serves: what is not in this table does not exist. `basePath` begins with a slash and ends without
 * one, or is empty; only what tells addresses needs it.
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
