import type { SystemProblem } from '../system-problem.ts';
import type { LoopLag } from './connection/loop-lag.ts';
import { type DescribedRoute, json } from './docs/operation.ts';
import { jsonReply } from './reply/json-reply.ts';

/** Creates the public health route, which a supervisor uses without a login. */
export function healthRoute(loopLag: () => LoopLag, refusal: () => SystemProblem | null): DescribedRoute {
  return {
    method: 'GET',
    path: '/health',
    access: 'public',
    body: 'none',
    errors: 'problem',
    handle: () => {
      const problem = refusal();
      if (problem === null) return jsonReply({ status: 'ok', eventLoopLagMs: loopLag() });
      const status = problem.status === 507 ? 507 : 503;
      const body = { status: 'failing', problem: problem.message, eventLoopLagMs: loopLag() };
      return { ...jsonReply(body), status };
    },
    operation: {
      id: 'health',
      tag: 'Daemon',
      summary: 'Reports whether the daemon can start runs',
      answers: {
        200: json('It can.', healthSchema, { status: 'ok', eventLoopLagMs: { mean: 0.1, p99: 1.2, max: 3 } }),
        503: json('The daemon answers, but cannot start runs.', failingSchema),
        507: json('The disk is full: starts are refused.', failingSchema, {
          status: 'failing',
          problem: 'no space left on the device',
          eventLoopLagMs: { mean: 0.1, p99: 1.2, max: 3 },
        }),
      },
    },
  };
}

const lag = { type: 'number', minimum: 0 };
const eventLoopLagMs = {
  type: 'object',
  description: 'The delay of the event loop of the daemon, in milliseconds, over the last seconds.',
  properties: { mean: lag, p99: lag, max: lag },
  required: ['mean', 'p99', 'max'],
};
const healthSchema = {
  type: 'object',
  properties: { status: { const: 'ok' }, eventLoopLagMs },
  required: ['status', 'eventLoopLagMs'],
};
const failingSchema = {
  type: 'object',
  properties: {
    status: { const: 'failing' },
    problem: { type: 'string', description: 'The missing resource.' },
    eventLoopLagMs,
  },
  required: ['status', 'problem', 'eventLoopLagMs'],
};
