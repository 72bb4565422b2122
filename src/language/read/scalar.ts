import type { Scalar } from 'yaml';
import type { Json } from '../../core/workflow.ts';

const TRUE = new Set(['true', 'yes', 'on', 'y']);
const FALSE = new Set(['false', 'no', 'off', 'n']);
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

/**
 * A scalar as the value its place expects: `1.10` stays that text where text is expected, `yes` and `"true"` are
 * booleans and `"587"` is a number where one is. Without a match it is what YAML 1.2 says, for the schema to refuse.
 * `types` are names of JSON types; null: any.
 */
export function scalarValue(node: Scalar, types: readonly string[] | null): Json {
  const native = nativeValue(node);
  if (types === null || native === null) return native;
  const text = textOf(node);
  if (types.includes('boolean')) {
    if (typeof native === 'boolean') return native;
    const word = text.toLowerCase();
    if (!types.includes('string') && TRUE.has(word)) return true;
    if (!types.includes('string') && FALSE.has(word)) return false;
  }
  if (types.includes('number') || types.includes('integer')) {
    if (typeof native === 'number') return native;
    if (typeof native === 'string' && !types.includes('string') && NUMBER.test(text)) return Number(text);
  }
  return types.includes('string') ? text : native;
}

/** The text of a scalar as it is written in the file, without its quotes. */
export function textOf(node: Scalar): string {
  return typeof node.value === 'string' ? node.value : (node.source ?? String(node.value ?? ''));
}

function nativeValue(node: Scalar): Json {
  const value = node.value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return textOf(node);
}
