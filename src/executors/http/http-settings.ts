import { listWords } from '#core/words/command-args.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import type { Attempt } from '../executor.ts';
import { expandTexts } from '../tool.ts';
import { bodyText, flagField, headerPairs, type Pairs, pairs, SettingProblem, timeoutMs } from './header-fields.ts';
import { shownUrlText } from './http-problem.ts';
import { expandJson } from './json-template.ts';

/** Settings of a request and its output, with variables expanded. */
export type HttpSettings = {
  /** For the whole exchange, from connecting to the end of the body; null: no limit. */
  readonly timeoutMs: number | null;
  readonly headers: Pairs;
  readonly query: Pairs;
  readonly body: string;
  readonly silent: boolean;
  readonly json: boolean;
  readonly skipTlsVerify: boolean;
  readonly debug: boolean;
};

/** Keys of `http`; `webhook` has a few more. */
export const httpKeys = ['timeout', 'headers', 'query', 'body', 'silent', 'json', 'skipTLSVerify', 'debug'] as const;

/**
 * The settings of `config`, overridden by those in `script`, a JSON object, all expanded. Throws a `SettingProblem`.
 */
export function expandedSettings(config: JsonObject, keys: readonly string[], attempt: Attempt): JsonObject {
  const { script } = attempt.step;
  const inScript = script === null || script.trim() === '' ? {} : scriptSettings(script, keys, attempt);
  const { body, ...rest } = config;
  const expanded = expandTexts(rest, attempt.expand) as JsonObject;
  return { ...expanded, ...expandedBody(body, expanded, attempt), ...inScript };
}

/** Reads the settings shared by `http` and `webhook` from expanded ones. Throws a `SettingProblem`. */
export function httpSettings(expanded: JsonObject): HttpSettings {
  return {
    timeoutMs: timeoutMs(expanded.timeout),
    headers: headerPairs(expanded),
    query: pairs(expanded, 'query'),
    body: bodyText(expanded.body),
    silent: flagField(expanded, 'silent'),
    json: flagField(expanded, 'json'),
    skipTlsVerify: flagField(expanded, 'skipTLSVerify'),
    debug: flagField(expanded, 'debug'),
  };
}

function scriptSettings(script: string, keys: readonly string[], { scope }: Attempt): JsonObject {
  const value = parseJson(expandJson(script, scope));
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw new SettingProblem('the script must be a JSON object with the settings of the request');
  }
  return Object.fromEntries(
    Object.entries(value as JsonObject)
      .filter(([, setting]) => setting !== null)
      .map(([key, setting]) => [knownKey(key, keys), setting]),
  );
}

/** The parser's message may quote the text, and with it a secret: only its first words are shown. */
function parseJson(text: string): Json {
  try {
    return JSON.parse(text) as Json;
  } catch (error) {
    const why =
      error instanceof Error ? error.message.replace(/(?:,? (?:\.\.\.|")| in JSON at| is not valid).*/s, '') : '';
    throw new SettingProblem(`the script is not JSON once its variables are replaced: ${why}`);
  }
}

/** Ignores case and `_`, as in workflow files. */
function knownKey(key: string, keys: readonly string[]): string {
  const canonical = (name: string) => name.toLowerCase().replaceAll('_', '');
  const known = keys.find((candidate) => canonical(candidate) === canonical(key));
  if (known !== undefined) return known;
  throw new SettingProblem(`unknown key ${JSON.stringify(key)} in the script; known keys: ${keys.join(', ')}`);
}

/** In a JSON body a value stays within its string, whatever it contains. */
function expandedBody(body: Json | undefined, { headers }: JsonObject, attempt: Attempt): JsonObject {
  const template = bodyText(body);
  if (template === '') return {};
  const [, type] = Object.entries(headers ?? {}).find(([name]) => name.toLowerCase() === 'content-type') ?? [];
  const isJson = type === undefined ? /^\s*[[{]/.test(template) : /json/i.test(String(type));
  return { body: isJson ? expandJson(template, attempt.scope) : attempt.expand(template) };
}

/** Method and URL of a request. */
export type Target = { readonly method: string; readonly url: URL };

/**
 * The method (by default GET) and URL of a step; all after the method is the URL, blanks too. Throws a
 * `SettingProblem`.
 */
export function stepTarget(attempt: Attempt): Target {
  const words = stepWords(attempt);
  const [first = '', second, ...more] = words;
  if (more.length > 0)
    throw new SettingProblem(`a request takes a method and a URL, but the command has ${words.length} words`);
  if (second !== undefined) return target(first, second);
  if (first.includes('://')) return target('GET', first);
  if (first === '') throw new SettingProblem('the step has no URL: write "command: METHOD url"');
  throw new SettingProblem(`no URL after ${JSON.stringify(shownUrlText(first))}: write "command: METHOD url"`);
}

/** A validated method and URL. Throws a `SettingProblem`. */
export function target(method: string, url: string): Target {
  const name = method.trim().toUpperCase();
  if (!/^[A-Z][A-Z-]*$/.test(name) || name === 'CONNECT') {
    throw new SettingProblem(`${JSON.stringify(method)} is not a method such as GET or POST`);
  }
  return { method: name, url: parseUrl(url.trim()) };
}

/** A copy of the URL with query parameters appended. */
export function withQuery(url: URL, query: Pairs): URL {
  const result = new URL(url);
  if (query.length === 0) return result;
  const added = new URLSearchParams(query.map(([name, value]): [string, string] => [name, value])).toString();
  result.search = url.search === '' ? added : `${url.search}&${added}`;
  return result;
}

function stepWords(attempt: Attempt): string[] {
  const { step, expand } = attempt;
  const { command, args } = step;
  const wordsOf = (text: string) => {
    const [, first = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(text) ?? [];
    // As in other commands, quotes are removed, and single quotes keep dollar signs.
    return [first, rest].map((word) => {
      const [, quote, inner = word] = /^(["'])([\s\S]*)\1$/.exec(word) ?? [];
      return quote === "'" ? inner : expand(inner);
    });
  };
  const words = typeof command === 'string' ? wordsOf(command) : listWords(command ?? [], attempt);
  return [...words, ...args.map(expand)].filter((word) => word.trim() !== '');
}

/** `new URL` silently drops line breaks; this reports them. */
function parseUrl(text: string): URL {
  const shown = JSON.stringify(shownUrlText(text));
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
  if (/[\x00-\x1f\x7f]/.test(text))
    throw new SettingProblem(`the URL ${shown} contains a line break or a control character`);
  if (!URL.canParse(text)) throw new SettingProblem(`${shown} is not a URL such as https://example.com/path`);
  const url = new URL(text);
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new SettingProblem(`${shown} is neither http nor https`);
  }
  return url;
}
