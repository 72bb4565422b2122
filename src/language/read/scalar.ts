import type { Json } from '#core/workflow.ts';
import { type ScalarNode, textOf } from './node.ts';

const TRUE = new Set(['true', 'yes', 'on', 'y']);
const FALSE = new Set(['false', 'no', 'off', 'n']);
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;

/**
 * Converts a scalar to the type expected: `1.10` stays text if text is expected, `yes` and `"true"` become booleans
 * and `"587"` a number if one is expected. Otherwise it has its type in YAML 1.2, and the schema reports it. `types`
 * are names of JSON types; null: any. `words` are the only texts allowed; empty: any text is.
 */
export function scalarValue(node: ScalarNode, types: readonly string[] | null, words: readonly unknown[] = []): Json {
  const native = nativeValue(node);
  if (types === null || native === null) return native;
  const text = textOf(node);
  if (types.includes('boolean')) {
    if (typeof native === 'boolean') return native;
    const word = text.toLowerCase();
    const isText = types.includes('string') && (words.length === 0 || words.includes(text));
    if (!isText && TRUE.has(word)) return true;
    if (!isText && FALSE.has(word)) return false;
  }
  if (types.includes('number') || types.includes('integer')) {
    if (typeof native === 'number') return native;
    if (typeof native === 'string' && !types.includes('string') && NUMBER.test(text)) return Number(text);
  }
  return types.includes('string') ? text : native;
}

function nativeValue(node: ScalarNode): Json {
  const value = node.value;
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return value;
  if (typeof value === 'number' && Number.isFinite(value)) return value;
  return textOf(node);
}
