import { lineEnd } from '#core/words/shell-words.ts';
import type { Json, JsonObject } from '#core/workflow.ts';
import { messageOf } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { asList, assignments, executorOf, isJsonObject, type TextOrList } from '../raw.ts';
import { type ActionEntry, spotIn } from '../read/spec-file.ts';
import { executorConfigSchema, knownKeys } from '../schema/schema.ts';
import { canonicalKey, type Schema } from '../schema/schema-type.ts';

/** Reports constant texts of a step or handler that its executor would refuse at run time. */
export function constantProblems(entry: ActionEntry): Problem[] {
  const { type, config = {} } = executorOf(entry.raw);
  switch (type) {
    case 'http':
      return [...requestProblems(entry), ...httpScriptProblems(entry)];
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

const REQUEST = 'Write "command: METHOD url", for example GET https://example.com/path.';

function requestProblems(entry: ActionEntry): Problem[] {
  const { command, args } = entry.raw;
  if (typeof command !== 'string' || asList(args).length > 0) return [];
  const [, first = '', rest = ''] = /^\s*(\S*)\s*([\s\S]*?)\s*$/.exec(command) ?? [];
  if (first === '' || !isConstant(first)) return [];
  const [method, url] = rest === '' && first.includes('://') ? ['GET', first] : [first, rest];
  if (!isMethod(method)) return wrongConstant(entry, ['command'], `"${method}" is not an HTTP method`, REQUEST);
  if (url === '') return wrongConstant(entry, ['command'], `the URL is missing after "${method}"`, REQUEST);
  return wrongConstant(entry, ['command'], urlMistake(/^(["'])([\s\S]*)\1$/.exec(url)?.[2] ?? url), REQUEST);
}

function webhookProblems(entry: ActionEntry, { url, method }: JsonObject): Problem[] {
  const at = (key: string): Path => ['executor', 'config', key];
  const isWrongMethod = typeof method === 'string' && method !== '' && isConstant(method) && !isMethod(method);
  const mistake = typeof url === 'string' ? urlMistake(url.trim()) : null;
  return [
    ...(isWrongMethod ? wrongConstant(entry, at('method'), `"${method}" is not an HTTP method`) : []),
    ...wrongConstant(entry, at('url'), mistake, 'For example: url: https://example.com/path'),
  ];
}

/** Names of programs that make requests are not methods. */
function isMethod(text: string): boolean {
  return /^[a-z][a-z-]*$/i.test(text) && !/^(?:connect|curl|wget)$/i.test(text);
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

function filterProblems(entry: ActionEntry): Problem[] {
  const { command } = entry.raw;
  if (typeof command !== 'string') return [];
  const mistake = jqBalanceMistake(command);
  return wrongConstant(entry, ['command'], mistake && `the jq filter is invalid: ${mistake}`);
}

function inputProblems(entry: ActionEntry): Problem[] {
  const { script } = entry.raw;
  // jq also reads nan, which JSON does not have.
  if (script === undefined || !isConstant(script) || /\bnan\b/i.test(script)) return [];
  const mistake = jsonSequenceMistake(script);
  return wrongConstant(entry, ['script'], mistake && `the input in "script" is not valid JSON: ${mistake}`);
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
  return wrongConstant(entry, key, `terraform ${subcommand} would wait for an approval that a step cannot give`, help);
}

function wordsOf(value: Json | TextOrList | undefined): string[] {
  const texts = asList(value as TextOrList | undefined).filter((text) => typeof text === 'string');
  return texts.flatMap((text) => text.split(/\s+/)).filter((word) => word !== '');
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
      at = lineEnd(filter, at);
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

/** Checks the settings of an http step in its `script`, unless a variable outside of quotes may be anything. */
function httpScriptProblems(entry: ActionEntry): Problem[] {
  const { script } = entry.raw;
  if (script === undefined || script.trim() === '') return [];
  const mistake = jsonMistake(script);
  const settings = mistake === null ? (JSON.parse(script) as Json) : null;
  if (isJsonObject(settings)) return settingProblems(entry, settings);
  if (!isConstant(script)) return [];
  const help = 'The script of an http step is a JSON object with timeout, headers, query and body.';
  const why = mistake ?? 'it must be an object';
  return wrongConstant(entry, ['script'], `the settings in "script" are not valid JSON: ${why}`, help);
}

function settingProblems(entry: ActionEntry, settings: JsonObject): Problem[] {
  const schema = executorConfigSchema('http');
  if (schema === null) return [];
  return Object.entries(settings).flatMap(([key, value]) => {
    if (!isConstant(key) || value === undefined || value === null) return [];
    const known = knownKeys(schema).get(canonicalKey(key))?.name;
    if (known === undefined) return [unknownKey(entry, key, schema)];
    const mistake = valueMistake(known, value);
    if (mistake === null) return [];
    return [problem('wrong-value', keySpot(entry, key), `${entry.what}: in "script", ${mistake}`)];
  });
}

function unknownKey(entry: ActionEntry, key: string, schema: Schema): Problem {
  const names = Object.keys(schema.properties ?? {});
  return problem(
    'unknown-key',
    keySpot(entry, key),
    `unknown key ${JSON.stringify(key)} in the "script" of ${entry.what}`,
    {
      label: () => didYouMean(nearNames(key, names)),
      help: `Known keys here: ${names.join(', ')} (wf schema executor.http).`,
    },
  );
}

function keySpot({ file, path, raw: { script = '' } }: ActionEntry, key: string): Problem['spot'] {
  const text = JSON.stringify(key);
  return { source: file.source, path: [...path, 'script'], part: 'value', word: { at: script.indexOf(text), text } };
}

/** Why the executor would refuse a value, in its words; null if it takes the value. */
function valueMistake(key: string, value: Json): string | null {
  if (typeof value === 'string' && !isConstant(value)) return null;
  switch (key) {
    case 'timeout':
      return isSeconds(value) ? null : `"timeout" must be a number of seconds, not ${JSON.stringify(value)}`;
    case 'headers':
    case 'query':
      return pairsMistake(key, value);
    case 'body':
      return null;
    default:
      if (typeof value === 'boolean' || value === 'true' || value === 'false' || value === '') return null;
      return `"${key}" must be true or false, not ${JSON.stringify(value)}`;
  }
}

function isSeconds(value: Json): boolean {
  const seconds = typeof value === 'string' ? Number(value) : value;
  return typeof seconds === 'number' && Number.isFinite(seconds) && seconds >= 0;
}

function pairsMistake(key: string, value: Json): string | null {
  if (!isJsonObject(value)) return `"${key}" must be a map of names and values`;
  const wrong = Object.entries(value).find(([, entry]) =>
    [entry ?? null].flat().some((one) => isJsonObject(one) || Array.isArray(one)),
  );
  return wrong === undefined ? null : `"${key}.${wrong[0]}" must be a text`;
}

/** An expression of GitHub Actions; `name` is the last word of a plain one, such as `X` of `env.X`. */
const EXPRESSION = /\$\{\{\s*([^{}]*?)\s*\}\}/;
/** The contexts and functions of GitHub Actions, without which such braces are some other text. */
const OF_ACTIONS =
  /^!?\s*(?:env|inputs|matrix|secrets|vars|github|needs|steps|runner|job|strategy)\b|^(?:format|fromJSON|toJSON|hashFiles|success|failure|always|cancelled|contains|startsWith|endsWith|join)\s*\(/;
const SHELL = /^(?:\/usr)?(?:\/bin\/)?(?:env\s+)?(?:ba|da|k|z)?sh\b/;

/**
 * Reports expressions of GitHub Actions, which look like variables: an error if a shell would refuse them, a warning
 * if they would be passed on unchanged.
 */
export function expressionProblems(entry: ActionEntry): Problem[] {
  if (!entry.hasDollar) return [];
  const { command, script, args, env, dir } = entry.raw;
  const shellText = typeof command === 'string' ? unquoted(command) : '';
  const isShellScript = command === undefined || (typeof command === 'string' && SHELL.test(command));
  return [
    ...found(entry, ['command'], shellText, 'error'),
    ...(isShellScript ? found(entry, ['script'], unquoted(script ?? ''), 'error') : []),
    ...asList(args).flatMap((text, index) => found(entry, ['args', index], text, 'warning')),
    ...assignments(env).flatMap(({ value, path }) => found(entry, ['env', ...path], value, 'warning')),
    ...found(entry, ['dir'], dir ?? '', 'warning'),
  ];
}

/** The text of a shell without single-quoted texts and here-documents. */
function unquoted(text: string): string {
  return text.includes('<<') ? '' : text.replace(/'[^']*'/g, (quoted) => (quoted.includes('${{') ? '' : quoted));
}

function found({ file, path, what }: ActionEntry, key: Path, text: string, severity: Problem['severity']): Problem[] {
  const match = EXPRESSION.exec(text);
  if (match === null) return [];
  const [expression, inner = ''] = match;
  const name = /(?:^|\.)([A-Za-z_]\w*)$/.exec(inner)?.[1];
  const isOther = !OF_ACTIONS.test(inner);
  const help = isOther
    ? `A shell refuses it: quote it with '...'.`
    : name === undefined
      ? 'Write a variable: $NAME.'
      : `Write $${name}, and declare it in "params" or "env".`;
  const message = `${what}: "${expression}" ${isOther ? 'is text' : 'is an expression of GitHub Actions'}, not a variable`;
  const word = { at: match.index, text: expression };
  const spot = { source: file.source, path: [...path, ...key], part: 'value', word } as const;
  return [problem('wrong-value', spot, message, { severity: isOther ? 'warning' : severity, help })];
}

/** Whether a text is the same in every run. */
function isConstant(text: string): boolean {
  return !/[$`]/.test(text);
}

/** A constant of a step or handler, and why its executor would refuse it; null if it would not. */
function wrongConstant(
  { file, path, what }: ActionEntry,
  key: Path,
  why: string | null,
  help: string | null = null,
): Problem[] {
  return why === null ? [] : [problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${why}`, { help })];
}

/**
 * The first mistake of a text that should be one JSON value, with its line from 1 if known: `line 2: Unexpected token '}'`.
 * Null for valid JSON.
 */
export function jsonMistake(text: string): string | null {
  const error = parseError(text);
  return error === null ? null : described(error, text);
}

/** The first mistake of a text that should be a sequence of JSON values, as jq reads it. */
function jsonSequenceMistake(text: string): string | null {
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
function described(error: string, rest: string, text = rest): string {
  const [, reason = error, position] =
    /^(.*?)(?: in JSON)?(?: at position (\d+).*|, .* is not valid JSON)?$/s.exec(error) ?? [];
  if (position === undefined) return reason;
  const offset = text.length - rest.length + Number(position);
  return `line ${text.slice(0, offset).split('\n').length}: ${reason}`;
}
