import type { Metrics } from '../daemon/metrics.ts';
import type { DescribedRoute } from './docs/operation.ts';

/** Creates the route of the metrics. They contain names of workflows, so the route requires the configured login. */
export function metricsRoute({ read }: Pick<Metrics, 'read'>): DescribedRoute {
  return {
    method: 'GET',
    path: '/metrics',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: async () => {
      const { contentType, text } = await read();
      return { status: 200, headers: { 'Content-Type': contentType }, body: text };
    },
    operation: {
      id: 'metrics',
      tag: 'Daemon',
      summary: 'Returns the metrics of the daemon',
      description: 'In the text format of Prometheus. It contains the names of workflows.',
      answers: {
        200: {
          description: 'The numbers.',
          content: { 'text/plain': { schema: { type: 'string' }, example: 'wf_runs_active 1\n' } },
        },
      },
    },
  };
}
