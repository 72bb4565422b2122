import { jsonIn } from './data/exact-json.ts';
import type { Json, ParamRule } from './workflow.ts';

/** The value of a parameter in the form that steps see, or why it is invalid. */
export type CheckedValue = { readonly value: string } | { readonly fault: string };

/** Whether a regular expression (RE2 syntax) finds something in a text. */
export type PatternTest = (pattern: string, text: string) => boolean;

const INTEGER = /^[-+]?\d+$/;
const NUMBER = /^[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[-+]?\d+)?$/i;
const TRUE = new Set(['true', 'yes', 'on', '1', 'y']);
const FALSE = new Set(['false', 'no', 'off', '0', 'n']);

/**
 * Checks the value of a declared parameter; booleans become `true` or `false`. A fault completes a sentence that
 * starts with the name: `must be an integer`.
 */
export function checkParam(text: string, rule: ParamRule, matches: PatternTest): CheckedValue {
  const { type, required, choices } = rule;
  if (text === '' && required === true) return { fault: 'is required and cannot be empty' };
  const value = type === 'boolean' ? booleanText(text) : text;
  if (value === null) return { fault: 'must be true or false' };
  if (type === 'integer' && !(INTEGER.test(value) && Number.isSafeInteger(Number(value)))) {
    return { fault: 'must be an integer' };
  }
  if (type === 'number' && !(NUMBER.test(value) && Number.isFinite(Number(value))))
    return { fault: 'must be a number' };
  if (choices !== undefined && !choices.includes(value)) return { fault: `must be one of ${choices.join(', ')}` };
  if (type === 'array' || type === 'object') {
    return isJsonOf(type, value) ? { value } : { fault: `must be a JSON ${type === 'array' ? 'list' : 'object'}` };
  }
  const fault = type === 'string' ? textFault(value, rule, matches) : numberFault(Number(value), rule);
  return fault === null ? { value } : { fault };
}

/** The value with its type, for JSON; the text itself if it does not have the type. */
export function typedValue(text: string, { type }: ParamRule): Json {
  if ((type === 'array' || type === 'object') && isJsonOf(type, text)) return JSON.parse(text) as Json;
  if (type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return (type === 'integer' || type === 'number') && NUMBER.test(text) ? Number(text) : text;
}

function isJsonOf(type: 'array' | 'object', text: string): boolean {
  const value = jsonIn(text);
  return typeof value === 'object' && value !== null && Array.isArray(value) === (type === 'array');
}

function booleanText(text: string): string | null {
  const word = text.toLowerCase();
  if (TRUE.has(word)) return 'true';
  return FALSE.has(word) ? 'false' : null;
}

function numberFault(value: number, { minimum, maximum }: ParamRule): string | null {
  if (minimum !== undefined && value < minimum) return `must be at least ${minimum}`;
  return maximum !== undefined && value > maximum ? `must be at most ${maximum}` : null;
}

function textFault(value: string, { minLength, maxLength, pattern }: ParamRule, matches: PatternTest): string | null {
  const { length } = [...value];
  if (minLength !== undefined && length < minLength) return `must have at least ${characters(minLength)}`;
  if (maxLength !== undefined && length > maxLength) return `must have at most ${characters(maxLength)}`;
  return pattern !== undefined && !matches(pattern, value) ? `must match ${JSON.stringify(pattern)}` : null;
}

function characters(count: number): string {
  return `${count} ${count === 1 ? 'character' : 'characters'}`;
}
