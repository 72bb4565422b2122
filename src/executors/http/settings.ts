import type { Json, JsonObject } from '../../core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { bodyText, flag, headerPairs, type Pairs, pairs, SettingProblem, timeoutMs } from './fields.ts';
import { expandJson } from './json-template.ts';

/** What a request and its printing are made from, with every variable replaced. */
export type HttpSettings = {
  /** For the whole of it, from the first connection to the end of the body; null: no limit. */
  readonly timeoutMs: number | null;
  readonly headers: Pairs;
  readonly query: Pairs;
  /** Empty: none. */
  readonly body: string;
  /** Print the body only. */
  readonly silent: boolean;
  /** Print one object of JSON. */
  readonly json: boolean;
  readonly skipTlsVerify: boolean;
  /** Print the request to standard error. */
  readonly debug: boolean;
};

/** Every key that `http` knows; `webhook` knows some more. */
export const httpKeys = ['timeout', 'headers', 'query', 'body', 'silent', 'json', 'skipTLSVerify', 'debug'] as const;

/**
 * The settings of a step with their variables replaced: those of `config`, each replaced by one of the same name in `script`,
 * which is an object of JSON. Throws a `SettingProblem`.
 */
export function expandedSettings(config: JsonObject, keys: readonly string[], attempt: Attempt): JsonObject {
  const { script } = attempt.step;
  const inScript = script === null || script.trim() === '' ? {} : scriptSettings(script, keys, attempt);
  const { body, ...rest } = config;
  const expanded = expandAll(rest, attempt) as JsonObject;
  return { ...expanded, ...expandedBody(body, expanded, attempt), ...inScript };
}

/** Takes the settings that `http` and `webhook` share from expanded ones. Throws a `SettingProblem`. */
export function httpSettings(expanded: JsonObject): HttpSettings {
  return {
    timeoutMs: timeoutMs(expanded.timeout),
    headers: headerPairs(expanded),
    query: pairs(expanded, 'query'),
    body: bodyText(expanded.body),
    silent: flag(expanded, 'silent'),
    json: flag(expanded, 'json'),
    skipTlsVerify: flag(expanded, 'skipTLSVerify'),
    debug: flag(expanded, 'debug'),
  };
}

function scriptSettings(script: string, keys: readonly string[], { scope }: Attempt): JsonObject {
  const value = parseJson(expandJson(script, scope));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingProblem('the script must be an object of JSON with the settings of the request');
  }
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([, setting]) => setting !== null)
      .map(([key, setting]) => [knownKey(key, keys), setting]),
  );
}

/** What the parser says may quote the text, and with it a secret: only its first words are told. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/(?:,? (?:\.\.\.|")| in JSON at| is not valid).*/s, '') : '';
    throw new SettingProblem(`the script is not JSON once its variables are replaced: ${why}`);
  }
}

/** As in a workflow file, neither case nor `_` counts. */
function knownKey(key: string, keys: readonly string[]): string {
  const canonical = (name: string) => name.toLowerCase().replaceAll('_', '');
  const known = keys.find((candidate) => canonical(candidate) === canonical(key));
  if (known !== undefined) return known;
  throw new SettingProblem(`unknown key ${JSON.stringify(key)} in the script; it may have ${keys.join(', ')}`);
}

function expandAll(value: Json, attempt: Attempt): Json {
  if (typeof value === 'string') return attempt.expand(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => expandAll(item, attempt));
  return Object.fromEntries(
    Object.entries(value).map(([key, item]: [string, Json]) => [key, expandAll(item, attempt)]),
  );
}

/** In a body of JSON a value stays within its string, whatever it holds. */
function expandedBody(body: Json | undefined, { headers }: JsonObject, attempt: Attempt): JsonObject {
  const template = bodyText(body);
  if (template === '') return {};
  const type = contentType(headers);
  const isJson = type === undefined ? /^\s*[[{]/.test(template) : /json/i.test(type);
  return { body: isJson ? expandJson(template, attempt.scope) : attempt.expand(template) };
}

function contentType(headers: Json | undefined): string | undefined {
  const entry = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type');
  return entry === undefined ? undefined : String(entry[1]);
}
