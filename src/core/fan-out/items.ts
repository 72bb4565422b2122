import { exactJson } from '../data/exact-json.ts';
import type { ItemValue, Json, JsonObject } from '../workflow.ts';

/** Maximum number of items of a step, and of instances of a run. */
export const MAX_ITEMS = 1000;
export const MAX_INSTANCES = 10_000;

/** A text or a key that names an instance. */
const KEY = /^[A-Za-z0-9._:/@,+-]{1,40}$/;
const NUMBER = /^(?:0|[1-9]\d*)$/;

/**
 * The items in a text: the elements of a JSON list; a JSON object; else one for each line; a single line is split at
 * commas, or else at white space. Quotes hold a part together.
 */
export function itemsInText(text: string): readonly ItemValue[] {
  const json = exactJson(text.trim());
  if (json !== null) return (Array.isArray(json) ? (json as readonly Json[]) : [json]).map(itemOf);
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const [line = '', ...others] = lines.filter((each) => each !== '');
  if (others.length > 0) return [line, ...others];
  const commas = splitLine(line, ',');
  return (commas.length > 1 ? commas : splitLine(line, ' ')).filter((part) => part !== '');
}

/** The lines of a text that are not blank. */
export function linesInText(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '');
}

/**
 * The keys of items: their text, of combinations the values, of maps `name`, `id` or their only value, if it is unique and
 * short enough; else their index. A number that is the index of another item is no key. `isHidden`: whether a text must not be shown.
 */
export function itemKeys(
  items: readonly ItemValue[],
  { isMatrix = false, isHidden = () => false }: { isMatrix?: boolean; isHidden?: (text: string) => boolean } = {},
): readonly string[] {
  const texts = items.map((item) => keyText(item, isMatrix));
  const counts = new Map<string, number>();
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1);
  return texts.map((text, index) => {
    // An index always names its item.
    const isOtherIndex = NUMBER.test(text) && Number(text) < items.length && Number(text) !== index;
    const isKey = KEY.test(text) && counts.get(text) === 1 && !isHidden(text) && !isOtherIndex;
    return isKey ? text : String(index);
  });
}

/** An item as text: a scalar as written, a map as compact JSON. */
export function itemText(item: ItemValue): string {
  return typeof item === 'object' ? JSON.stringify(item) : String(item);
}

/** The variables of an instance. */
export function itemVariables(item: ItemValue, index: number, count: number): Readonly<Record<string, string>> {
  const fields = typeof item === 'object' ? Object.entries(item) : [];
  return {
    ITEM: itemText(item),
    ...Object.fromEntries(fields.map(([field, value]) => [variableOf(field), String(value)])),
    WF_ITEM_INDEX: String(index),
    WF_ITEM_COUNT: String(count),
  };
}

/**
 * The default parameters of a child run, as a text with variables: a combination of a matrix by name, any other item as
 * one value.
 */
export function itemParams(item: ItemValue, isMatrix: boolean): string {
  if (!isMatrix || typeof item !== 'object') return '"${ITEM}"';
  return Object.keys(item)
    .map((field) => `${field}="\${${variableOf(field)}}"`)
    .join(' ');
}

/** Whether a variable is one that `itemVariables` sets. */
export function isItemVariable(name: string): boolean {
  return /^(?:ITEM(?:_\w+)?|WF_ITEM_(?:INDEX|COUNT))$/.test(name);
}

function itemOf(json: Json): ItemValue {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return scalarOf(json);
  return Object.fromEntries(Object.entries(json as JsonObject).map(([field, value]) => [field, scalarOf(value)]));
}

function scalarOf(json: Json): string | number | boolean {
  if (json === null) return '';
  return typeof json === 'object' ? JSON.stringify(json) : json;
}

function keyText(item: ItemValue, isMatrix: boolean): string {
  if (typeof item !== 'object') return String(item);
  if (isMatrix) return Object.values(item).join(',');
  const values = Object.values(item);
  return String(item['name'] ?? item['id'] ?? (values.length === 1 ? values[0] : ''));
}

/** Splits at each separator outside quotes, and removes the quotes. */
function splitLine(line: string, separator: ',' | ' '): string[] {
  const parts = [''];
  for (const [token] of line.matchAll(/"[^"]*"|'[^']*'|\s|[^\s]/gs)) {
    const isSeparator = separator === ',' ? token === ',' : /^\s$/.test(token);
    if (isSeparator) parts.push('');
    else parts.push((parts.pop() ?? '') + (token.length > 1 ? token.slice(1, -1) : token));
  }
  return parts.map((part) => part.trim());
}

function variableOf(field: string): string {
  return `ITEM_${field.replace(/[^A-Za-z0-9_]/g, '_')}`;
}
