import { listWords } from '#core/words/command-args.ts';
import type { Attempt } from '../executor.ts';
import { type Pairs, SettingProblem } from './header-fields.ts';
import { shownUrlText } from './shown.ts';

/** Method and URL of a request. */
export type Target = { readonly method: string; readonly url: URL };

/**
 * The method and URL in a step's `command` (`METHOD url`) and `args`; a single URL means GET. Everything after the
 * method is the URL, including blanks. Throws a `SettingProblem`.
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
  const words = typeof command === 'string' ? commandWords(command, expand) : listWords(command ?? [], attempt);
  return [...words, ...args.map(expand)].filter((word) => word.trim() !== '');
}

function commandWords(command: string, expand: (text: string) => string): string[] {
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(command) ?? [];
  return [first, rest].map((word) => expandWord(word, expand));
}

/** As in other commands, quotes are removed, and single quotes keep dollar signs. */
function expandWord(word: string, expand: (text: string) => string): string {
  const quoted = /^(["'])([\s\S]*)\1$/.exec(word);
  if (quoted === null) return expand(word);
  const [, quote, inner = ''] = quoted;
  return quote === "'" ? inner : expand(inner);
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
