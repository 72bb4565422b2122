import type { SystemProblem } from '../system-problem.ts';
import type { LoopLag } from './connection/loop-lag.ts';
import { jsonReply } from './reply/json-reply.ts';
import type { Handler } from './route.ts';

/** `GET /health`, which a supervisor uses without a login. */
export function health(loopLag: () => LoopLag, refusal: () => SystemProblem | null): Handler {
  return () => {
    const problem = refusal();
    if (problem === null) return jsonReply({ status: 'ok', eventLoopLagMs: loopLag() });
    const status = problem.status === 507 ? 507 : 503;
    const body = { status: 'failing', problem: problem.message, eventLoopLagMs: loopLag() };
    return { ...jsonReply(body), status };
  };
}
