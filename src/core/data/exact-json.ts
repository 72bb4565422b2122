import type { Json, JsonObject } from '../workflow.ts';

/** A string, or a number, in JSON text. */
const JSON_TOKEN = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g;

/** The list or map in a text; null if it is neither. Numbers that would change when read stay texts. */
export function exactJson(text: string): readonly Json[] | JsonObject | null {
  if (!/^(?:\[.*\]|\{.*\})$/s.test(text)) return null;
  const isExact = (token: string) => token.startsWith('"') || JSON.stringify(Number(token)) === token;
  if (jsonIn(text) === undefined) return null;
  return JSON.parse(text.replace(JSON_TOKEN, (token) => (isExact(token) ? token : JSON.stringify(token))));
}

/** The value of a JSON text; undefined if it is not JSON. */
export function jsonIn(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** The JSON object that a text is, blanks around it apart; null for any other text. */
export function exactJsonObject(text: string): JsonObject | null {
  const json = /^\s*\{/.test(text) ? exactJson(text.trim()) : null;
  return json === null || Array.isArray(json) ? null : (json as JsonObject);
}
