import type { Json, JsonObject } from '#core/workflow.ts';
import type { Path, Problem } from '../../problem.ts';
import { asList, type TextOrList } from '../../raw.ts';
import type { ActionEntry } from '../step/action-entries.ts';
import { isConstant, jsonSequenceMistake, wrongConstant as wrong } from './constants.ts';
import { httpScriptProblems } from './http-script.ts';

/** Reports constant texts of a step or handler that its executor would refuse at run time. */
export function constantProblems(entry: ActionEntry): Problem[] {
  const { executor } = entry.raw;
  const type = typeof executor === 'string' ? executor : executor?.type;
  const config = typeof executor === 'object' ? (executor.config ?? {}) : {};
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

/** Names of programs that make requests are not methods. */
function isMethod(text: string): boolean {
  return /^[a-z][a-z-]*$/i.test(text) && !/^(?:connect|curl|wget)$/i.test(text);
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
