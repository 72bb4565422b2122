import { validateHeaderName, validateHeaderValue } from 'node:http';
import type { Json, JsonObject } from '#core/workflow.ts';
import { basicHeader } from '#system/basic-login.ts';
import { tryOr } from '#system/errors.ts';

/** An invalid setting; the message is shown to the user. */
export class SettingProblem extends Error {}

/** Names with values, in order; a name with several values appears several times. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** Converts seconds, as a number or text, to milliseconds; null for no limit. */
export function timeoutMs(value: Json | undefined): number | null {
  if (value === undefined || value === null || value === '') return null;
  const seconds = typeof value === 'string' ? Number(value) : value;
  if (typeof seconds !== 'number' || !Number.isFinite(seconds) || seconds < 0) {
    throw new SettingProblem(`"timeout" must be a number of seconds, not ${JSON.stringify(value)}`);
  }
  return seconds === 0 ? null : Math.ceil(seconds * 1000);
}

/** A boolean, also as text. */
export function flagField(settings: JsonObject, name: string): boolean {
  const value = settings[name] ?? false;
  if (typeof value === 'boolean') return value;
  if (value === 'true' || value === 'false' || value === '') return value === 'true';
  throw new SettingProblem(`"${name}" must be true or false, not ${JSON.stringify(value)}`);
}

/** A text; numbers and booleans are converted. */
export function textField(settings: JsonObject, name: string): string {
  return asText(settings[name] ?? '', name);
}

/** A text, or a structure as JSON. */
export function bodyText(value: Json | undefined): string {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value);
  return asText(value ?? '', 'body');
}

/** A map of texts or lists of texts. */
export function pairs(settings: JsonObject, name: string): Pairs {
  const map = settings[name] ?? {};
  if (typeof map !== 'object' || Array.isArray(map))
    throw new SettingProblem(`"${name}" must be a map of names and values`);
  return Object.entries(map).flatMap(([key, value]: [string, Json]) => {
    const values: readonly Json[] = Array.isArray(value) ? value : [value];
    return values.filter((item) => item !== null).map((item) => [key, asText(item, `${name}.${key}`)] as const);
  });
}

/** Validated headers: no value can end a header and start another. */
export function headerPairs(settings: JsonObject): Pairs {
  return pairs(settings, 'headers').map(([name, raw]) => {
    const value = raw.trim();
    try {
      validateHeaderName(name);
      validateHeaderValue(name, value);
    } catch {
      const what = /[\r\n]/.test(name + value) ? 'a line break' : 'a character';
      throw new SettingProblem(`header ${JSON.stringify(name)} contains ${what} that is not allowed in headers`);
    }
    return [name, value];
  });
}

/** Status codes, as numbers or texts; null if absent. */
export function statusCodes(settings: JsonObject, name: string): ReadonlySet<number> | null {
  const list = settings[name] ?? [];
  const codes = (Array.isArray(list) ? list : [list]).map(Number);
  if (codes.some((code) => !Number.isInteger(code) || code < 100 || code > 599)) {
    throw new SettingProblem(`"${name}" must be a list of status codes`);
  }
  return codes.length === 0 ? null : new Set(codes);
}

function asText(value: Json, name: string): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  throw new SettingProblem(`"${name}" must be a text`);
}

/** The `Basic ...` header for the credentials in a URL; null if it has none. */
export function urlLogin({ username, password }: URL): string | null {
  if (username === '' && password === '') return null;
  return basicHeader({ username: decoded(username), password: decoded(password) });
}

/** A percent sign that starts no escape stands for itself. */
function decoded(text: string): string {
  return tryOr(text, () => decodeURIComponent(text));
}
