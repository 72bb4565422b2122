import type { AttemptResult } from '../run/attempt-result.ts';
import type { ToleratedBy } from '../run/run.ts';
import { instancesOf, type RunState, type StepState, stepNode } from '../run/run-state.ts';
import type { Json, JsonObject } from '../workflow.ts';

/** Maximum number of instances named in a message. */
const MOST_NAMES = 10;
/** Largest value of an `output` variable, in bytes. */
const MAX_OUTPUT_BYTES = 1024 * 1024;

/** How a fan-out ends once all its instances have. */
export type FanOutResult = AttemptResult & { readonly tolerated: ToleratedBy | null };

/**
 * The result of a fan-out: failed if an instance failed, which is tolerated if all failures are; else canceled if one
 * was; skipped if all were.
 */
export function fanOutResult(run: RunState, fanOut: StepState): FanOutResult {
  const instances = instancesOf(run, fanOut);
  return withOutput(run, fanOut, instances, endOf(instances));
}

function endOf(instances: readonly StepState[]): FanOutResult {
  const nothing = { reason: null, message: '', exitCode: null, signal: null, outputs: null, tolerated: null };
  const notRun = instances.find(({ status }) => status === 'upstream_failed');
  if (notRun !== undefined) return { ...nothing, status: 'upstream_failed', message: notRun.message };
  const failed = instances.filter(({ status }) => status === 'failed');
  const canceled = instances.filter(({ status }) => status === 'canceled');
  const cause = failed.find(({ tolerated }) => tolerated === null) ?? (canceled.length > 0 ? undefined : failed[0]);
  if (cause !== undefined) {
    const { reason, exitCode, signal, tolerated } = cause;
    const message = countText(instances, failed, 'failed');
    return { ...nothing, status: 'failed', reason, message, exitCode, signal, tolerated };
  }
  if (canceled.length > 0) {
    return { ...nothing, status: 'canceled', message: countText(instances, canceled, 'canceled') };
  }
  const isSkipped = instances.length > 0 && instances.every(({ status }) => status === 'skipped');
  if (isSkipped) return { ...nothing, status: 'skipped', message: `all ${instances.length} skipped` };
  return { ...nothing, status: 'succeeded' };
}

/** `2 of 5 failed: web3, web7`. */
function countText(all: readonly StepState[], some: readonly StepState[], what: 'failed' | 'canceled'): string {
  const names = some.slice(0, MOST_NAMES).map(({ item }) => item?.key ?? '');
  const more = some.length > MOST_NAMES ? ', ...' : '';
  return `${some.length} of ${all.length} ${what}: ${names.join(', ')}${more}`;
}

/** Adds the output of all instances as JSON. One that does not fit a variable fails the step. */
function withOutput(
  run: RunState,
  { name }: StepState,
  instances: readonly StepState[],
  result: FanOutResult,
): FanOutResult {
  const { output, executor } = stepNode(run, name);
  if (output === null) return result;
  const json = JSON.stringify(outputOf(instances, output, executor.type === 'workflow'));
  const size = utf8Length(json);
  if (size <= MAX_OUTPUT_BYTES) return { ...result, outputs: { [output]: json } };
  if (result.status !== 'succeeded') return { ...result, outputs: {} };
  const message = `output "${output}" has ${size} bytes; a variable can hold ${MAX_OUTPUT_BYTES}`;
  return { ...result, status: 'failed', reason: 'error', message, outputs: {} };
}

function outputOf(instances: readonly StepState[], name: string, hasChildren: boolean): JsonObject {
  const count = (status: StepState['status']) => instances.filter((instance) => instance.status === status).length;
  const succeeded = instances.filter(({ status }) => status === 'succeeded');
  return {
    summary: {
      total: instances.length,
      succeeded: succeeded.length,
      failed: count('failed'),
      skipped: count('skipped'),
      canceled: count('canceled'),
    },
    outputs: succeeded.map(({ outputs }) => (hasChildren ? outputsOfChild(outputs[name]) : outputs)),
    results: instances.map(({ item, status, exitCode, child, outputs }) => ({
      key: item?.key ?? '',
      index: item?.index ?? 0,
      item: item?.value ?? '',
      status,
      exitCode,
      runId: child ?? null,
      output: outputs[name] ?? null,
    })),
  };
}

/** The outputs in the result of a child run, which is JSON. */
function outputsOfChild(result: string | undefined): Json {
  const { outputs = {} } = JSON.parse(result || '{}') as { readonly outputs?: JsonObject };
  return outputs;
}

function utf8Length(text: string): number {
  let length = text.length;
  for (const char of text) {
    const code = char.codePointAt(0) ?? 0;
    // A code point above U+FFFF is two characters and four bytes.
    if (code > 0x7ff) length += 2;
    else if (code > 0x7f) length += 1;
  }
  return length;
}
