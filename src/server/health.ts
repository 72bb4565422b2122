import type { LoopLag } from './connection/loop-lag.ts';
import { type DescribedRoute, json } from './openapi/operation.ts';
import { jsonReply } from './reply/json-reply.ts';

/** Tells that the daemon answers, and how promptly, to whoever asks and nothing more: a supervisor needs no login. */
export function healthRoute(loopLag: () => LoopLag): DescribedRoute {
  return {
    method: 'GET',
    path: '/health',
    access: 'public',
    body: 'none',
    errors: 'problem',
    handle: () => jsonReply({ status: 'ok', eventLoopLagMs: loopLag() }),
    operation: {
      id: 'health',
      tag: 'Daemon',
      summary: 'Tells that the daemon answers',
      answers: {
        200: json('It does.', healthSchema, { status: 'ok', eventLoopLagMs: { mean: 0.1, p99: 1.2, max: 3 } }),
      },
    },
  };
}

const lag = { type: 'number', minimum: 0 };
const healthSchema = {
  type: 'object',
  properties: {
    status: { const: 'ok' },
    eventLoopLagMs: {
      type: 'object',
      description: 'How late the daemon came to what was due, in milliseconds, over the last seconds.',
      properties: { mean: lag, p99: lag, max: lag },
      required: ['mean', 'p99', 'max'],
    },
  },
  required: ['status', 'eventLoopLagMs'],
};
