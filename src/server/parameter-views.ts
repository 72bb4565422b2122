import { literalText, references, splitBackticks } from '#core/words/interpolate.ts';
import type { JsonObject, Workflow } from '#core/workflow.ts';

/**
 * The named parameters with their accepted values, for forms. `default`: null if the file has none, or one that is
 * evaluated when the run starts, which is `eval` then.
 */
export function parameterViews({ params, secrets }: Workflow): readonly JsonObject[] {
  const hidden = new Set(secrets.map(({ name }) => name));
  return params.flatMap(({ name, value, open, rule }) => {
    if (name === null) return [];
    const { type = 'string', required = false, ...limits } = rule ?? {};
    const parts = splitBackticks(value);
    const isEvaluated = references(value).length > 0 || parts.some((part) => 'command' in part);
    const isOpen = open === true || (rule !== undefined && value === '');
    const literal = parts.map((part) => ('text' in part ? literalText(part.text) : '')).join('');
    const given = { default: isOpen || isEvaluated ? null : literal, ...(isEvaluated ? { eval: value } : {}) };
    return [{ name, type, ...given, required, secret: hidden.has(name), ...limits }];
  });
}
