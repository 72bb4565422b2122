import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import type { JsonObject } from '#core/workflow.ts';
import type { Attempt, Executor } from '../executor.ts';

/** Runs another workflow (`run`, with `params`) as a child run; its result, as JSON, is the step's output. */
export const executor: Executor = { run: runOther };

async function runOther({ run, params, json }: JsonObject, attempt: Attempt): Promise<Outcome> {
  // Variables are replaced after the parameters are split, so that each value stays one parameter.
  const result = await attempt.runWorkflow({
    run: String(run),
    params: typeof params === 'string' ? params : '',
    ...(typeof json === 'string' ? { json } : {}),
  });
  if (result.json !== '') attempt.write('stdout', `${result.json}\n`);
  if (result.ok) return { status: 'succeeded', exitCode: null, outputs: {} };
  if (result.canceled) return { status: 'canceled', message: result.message, exitCode: null, signal: null };
  return failed(result.message);
}
