import { resultNames } from '#core/words/step-results.ts';
import type { Json, PublishedOutput, Step } from '#core/workflow.ts';
import { isJsonObject } from '../raw.ts';

/** A key of `output` as a map: what `${ID.output.KEY}` can name. */
export const OUTPUT_KEY = /^(?!__proto__$)[A-Za-z0-9_-]+$/;

/** Whether a value of `output` as a map is read after each attempt; any other value is a literal. */
export function isSource(value: Json): value is { readonly [key: string]: Json } {
  return isJsonObject(value) && Object.hasOwn(value, 'from');
}

/** The entries of a valid `output` that is a map. */
export function publishedOf(output: { readonly [key: string]: Json }): readonly PublishedOutput[] {
  return Object.entries(output).map(([key, value]) => ({ key, value: outputValue(value) }));
}

const STREAM = /\$\{([A-Za-z_]\w*)\.(stdout|stderr)\b/g;

/** The steps, with the streams to whose files texts of steps, or the other `texts`, refer as `${ID.stdout}`. */
export function withNamedStreams(steps: readonly Step[], texts: readonly unknown[]): readonly Step[] {
  const named = [...JSON.stringify([steps, texts]).matchAll(STREAM)];
  if (named.length === 0) return steps;
  return steps.map((step) => {
    const names = resultNames(step);
    const isNamed = (stream: string) => named.some(([, id = '', found]) => found === stream && names.includes(id));
    const namedStreams = (['stdout', 'stderr'] as const).filter(isNamed);
    return namedStreams.length === 0 ? step : { ...step, namedStreams };
  });
}

const CHILD_OUTPUTS: PublishedOutput = { key: '*', value: { from: 'stdout', decode: 'json', select: '.outputs' } };
const REFERENCE = /\$\{([A-Za-z_]\w*)\.outputs\b/g;

/**
 * The steps; sub-workflows publish their outputs if texts of steps, or the other `texts`, refer to them as
 * `${ID.outputs.NAME}`.
 */
export function withChildOutputs(steps: readonly Step[], texts: readonly unknown[]): readonly Step[] {
  const isCandidate = ({ executor, output, fanOut }: Step) =>
    executor.type === 'workflow' && output === null && fanOut === undefined;
  if (!steps.some(isCandidate)) return steps;
  const names = new Set([...JSON.stringify([steps, texts]).matchAll(REFERENCE)].map(([, name]) => name));
  const isMentioned = (step: Step) => resultNames(step).some((name) => names.has(name));
  return steps.map((step) =>
    isCandidate(step) && isMentioned(step) ? { ...step, published: [CHILD_OUTPUTS, ...(step.published ?? [])] } : step,
  );
}

function outputValue(value: Json): PublishedOutput['value'] {
  if (!isSource(value)) return { literal: typeof value === 'string' ? value : JSON.stringify(value) };
  const { from, path, decode = 'text', select } = value as { [key: string]: string | undefined };
  return {
    ...(from === 'file' ? { from, path: path ?? '' } : { from: from === 'stderr' ? 'stderr' : 'stdout' }),
    decode: decode === 'json' || decode === 'yaml' ? decode : 'text',
    ...(select === undefined ? {} : { select }),
  };
}
