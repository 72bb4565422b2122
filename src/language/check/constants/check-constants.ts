import type { Json, JsonObject } from '../../../core/workflow.ts';
import { messageOf } from '../../../errors.ts';
import { didYouMean, nearNames } from '../../near-names.ts';
import { type Path, type Problem, problem } from '../../problem.ts';
import { asList, isJsonObject, type TextOrList } from '../../raw.ts';
import { canonicalKey } from '../../read/canonical-key.ts';
import { spotIn } from '../../read/spec-file.ts';
import { executorConfigSchema, knownKeys } from '../../schema/schema.ts';
import type { ActionEntry } from '../step/action-entries.ts';

/** Reports constant texts of a step or handler that its executor would refuse at run time. */
export function constantProblems(entry: ActionEntry): Problem[] {
  const { executor } = entry.raw;
  const type = typeof executor === 'string' ? executor : executor?.type;
  const config = typeof executor === 'object' ? (executor.config ?? {}) : {};
  switch (type) {
    case 'http':
      return [...requestProblems(entry), ...httpScriptProblems(entry), ...httpKeyProblems(entry)];
    case 'webhook':
      return webhookProblems(entry, config);
    case 'jq':
      return [...filterProblems(entry), ...inputProblems(entry)];
    case 'terraform':
      return approvalProblems(entry, config);
    default:
      return [];
  }
}

/** Whether a text is the same in every run. */
function isConstant(text: string): boolean {
  return !/[$`]/.test(text);
}

function wrong({ file, path, what }: ActionEntry, key: Path, why: string, help: string | null = null): Problem[] {
  return [problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${why}`, { help })];
}

const REQUEST = 'Write "command: METHOD url", for example GET https://example.com/path.';

function requestProblems(entry: ActionEntry): Problem[] {
  const { command, args } = entry.raw;
  if (typeof command !== 'string' || asList(args).length > 0) return [];
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(command) ?? [];
  if (first === '' || !isConstant(first)) return [];
  const [method, url] = rest === '' && first.includes('://') ? ['GET', first] : [first, rest];
  if (!isMethod(method)) return wrong(entry, ['command'], `"${method}" is not an HTTP method`, REQUEST);
  if (url === '') return wrong(entry, ['command'], `the URL is missing after "${method}"`, REQUEST);
  const mistake = urlMistake(unquoted(url));
  return mistake === null ? [] : wrong(entry, ['command'], mistake, REQUEST);
}

function webhookProblems(entry: ActionEntry, { url, method }: JsonObject): Problem[] {
  const at = (key: string): Path => ['executor', 'config', key];
  const isWrongMethod = typeof method === 'string' && method !== '' && isConstant(method) && !isMethod(method);
  const mistake = typeof url === 'string' ? urlMistake(url.trim()) : null;
  return [
    ...(isWrongMethod ? wrong(entry, at('method'), `"${method}" is not an HTTP method`) : []),
    ...(mistake === null ? [] : wrong(entry, at('url'), mistake, 'For example: url: https://example.com/path')),
  ];
}

function isMethod(text: string): boolean {
  return /^[a-z][a-z-]*$/i.test(text) && text.toUpperCase() !== 'CONNECT';
}

function unquoted(word: string): string {
  return /^(["'])([\s\S]*)\1$/.exec(word)?.[2] ?? word;
}

/** Checks a URL before its variables have values: its scheme, unless a variable starts it. */
function urlMistake(text: string): string | null {
  if (text === '' || /^[$`]/.test(text)) return null;
  if (isConstant(text) && !URL.canParse(text)) return `"${text}" is not a URL`;
  const scheme = /^([^$`]*?):\/\//.exec(text)?.[1]?.toLowerCase();
  if (scheme === undefined) return isConstant(text) || !text.includes('://') ? schemeMissing(text) : null;
  return scheme === 'http' || scheme === 'https' ? null : `"${text}" is neither http nor https`;
}

/** A variable before the first slash may contain the scheme. */
function schemeMissing(text: string): string | null {
  const head = /^[^/?#]*/.exec(text)?.[0] ?? '';
  return isConstant(head) ? `"${text}" is not a URL: the scheme (https://) is missing` : null;
}

function httpScriptProblems(entry: ActionEntry): Problem[] {
  const { script } = entry.raw;
  if (script === undefined || script.trim() === '' || !isConstant(script)) return [];
  const mistake = jsonMistake(script) ?? (isJsonObject(JSON.parse(script)) ? null : 'it must be an object');
  const help = 'The script of an http step is a JSON object with timeout, headers, query and body.';
  return mistake === null
    ? []
    : wrong(entry, ['script'], `the settings in "script" are not valid JSON: ${mistake}`, help);
}

/** Settings that hold variables are checked too, unless one of them is not in quotes and may be anything. */
function httpKeyProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { script = '' } = raw;
  const schema = executorConfigSchema('http');
  const settings = jsonMistake(script) === null ? (JSON.parse(script) as Json) : null;
  if (schema === null || !isJsonObject(settings)) return [];
  const known = knownKeys(schema);
  return Object.keys(settings).flatMap((key) => {
    if (!isConstant(key) || settings[key] === null || known.has(canonicalKey(key))) return [];
    const names = Object.keys(schema.properties ?? {});
    const text = JSON.stringify(key);
    const word = { at: script.indexOf(text), text };
    const spot = { source: file.source, path: [...path, 'script'], part: 'value', word } as const;
    return [
      problem('unknown-key', spot, `unknown key ${text} in the "script" of ${what}`, {
        label: () => didYouMean(nearNames(key, names)),
        help: `Known keys here: ${names.join(', ')} (wf schema executor.http).`,
      }),
    ];
  });
}

function filterProblems(entry: ActionEntry): Problem[] {
  const { command } = entry.raw;
  if (typeof command !== 'string') return [];
  const mistake = jqBalanceMistake(command);
  return mistake === null ? [] : wrong(entry, ['command'], `the jq filter is invalid: ${mistake}`);
}

function inputProblems(entry: ActionEntry): Problem[] {
  const { script } = entry.raw;
  // jq also reads nan, which JSON does not have.
  if (script === undefined || !isConstant(script) || /\bnan\b/i.test(script)) return [];
  const mistake = jsonSequenceMistake(script);
  return mistake === null ? [] : wrong(entry, ['script'], `the input in "script" is not valid JSON: ${mistake}`);
}

/** `apply` and `destroy` ask for an approval, and a step has no terminal to answer on. */
function approvalProblems(entry: ActionEntry, config: JsonObject): Problem[] {
  const { raw } = entry;
  const words = [...wordsOf(config.subcommand), ...wordsOf(raw.command), ...asList(raw.args), ...wordsOf(config.args)];
  const [subcommand, ...others] = words;
  if (subcommand !== 'apply' && subcommand !== 'destroy') return [];
  const isApproved = config.autoApprove !== undefined && config.autoApprove !== false;
  const hasPlan = subcommand === 'apply' && config.planFile !== undefined;
  // A plan file, `-auto-approve`, or a variable with either.
  const mayApprove = others.some((word) => !isConstant(word) || !word.startsWith('-') || /^--?auto-approve/.test(word));
  if (isApproved || hasPlan || mayApprove) return [];
  const key = config.subcommand === undefined ? ['command'] : ['executor', 'config', 'subcommand'];
  const help =
    subcommand === 'apply' ? 'Set "autoApprove: true", or "planFile" to a saved plan.' : 'Set "autoApprove: true".';
  return wrong(entry, key, `terraform ${subcommand} would wait for an approval that a step cannot give`, help);
}

function wordsOf(value: Json | TextOrList | undefined): string[] {
  const texts = asList(value as TextOrList | undefined).filter((text) => typeof text === 'string');
  return texts.flatMap((text) => text.split(/\s+/)).filter((word) => word !== '');
}

/** Why a text is not JSON, with its line from 1 if known: `line 2: Unexpected token '}'`. */
type JsonMistake = string;

/** The first mistake of a text that should be one JSON value; null for valid JSON. */
function jsonMistake(text: string): JsonMistake | null {
  const error = parseError(text);
  return error === null ? null : described(error, text);
}

/** The first mistake of a text that should be a sequence of JSON values, as jq reads it. */
function jsonSequenceMistake(text: string): JsonMistake | null {
  let rest = text;
  while (rest.trim() !== '') {
    const error = parseError(rest);
    if (error === null) return null;
    const second = /^Unexpected non-whitespace character after JSON at position (\d+)/.exec(error)?.[1];
    if (second === undefined) return described(error, rest, text);
    rest = rest.slice(Number(second));
  }
  return null;
}

function parseError(text: string): string | null {
  try {
    JSON.parse(text);
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** V8's message without the text itself; `rest` is the end of `text` that was parsed. */
function described(error: string, rest: string, text = rest): JsonMistake {
  const [, reason = error, position] =
    /^(.*?)(?: in JSON)?(?: at position (\d+).*|, .* is not valid JSON)?$/s.exec(error) ?? [];
  if (position === undefined) return reason;
  const offset = text.length - rest.length + Number(position);
  return `line ${text.slice(0, offset).split('\n').length}: ${reason}`;
}

const closing: { readonly [opening: string]: string } = { '(': ')', '[': ']', '{': '}' };

/** The first unbalanced quote or bracket of a jq filter; null if everything is balanced. Only jq can check the rest. */
function jqBalanceMistake(filter: string): string | null {
  // In a string within a string, `"\(...)"`, the outer string continues after the bracket: `"` stands for a string
  // here.
  const open: string[] = [];
  for (let at = 0; at < filter.length; at++) {
    const character = filter[at] ?? '';
    if (open.at(-1) === '"') {
      if (character === '\\' && filter[++at] === '(') open.push('(');
      else if (character === '"') open.pop();
    } else if (character === '#') {
      at = endOfLine(filter, at);
    } else if (character === '"' || character in closing) {
      open.push(character);
    } else if (')]}'.includes(character)) {
      const opening = open.pop();
      if (opening === undefined) return `"${character}" was never opened`;
      if (closing[opening] !== character) return `"${opening}" is closed by "${character}"`;
    }
  }
  const last = open.at(-1);
  return last === undefined ? null : `a ${last === '"' ? 'string' : `"${last}"`} is not closed`;
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end;
}
