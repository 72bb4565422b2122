import { expandText } from '../../core/words/interpolate.ts';
import { PATH } from '../../core/words/json-path.ts';
import type { Scope } from '../executor.ts';
import { escapeJson } from '../http/json-template.ts';

/** A filter for jq, and the values of the workflow's variables that it uses as jq's own, by name. */
export type JqProgram = { readonly filter: string; readonly variables: ReadonlyMap<string, string> };

/** `\$`; `${NAME}` with its default, in which one more may stand; `$NAME` and `$1`. */
const VARIABLE = String.raw`\\\$|\$\{(?:[A-Za-z_]\w*|[1-9]\d*)(?:${PATH})?(?:\}|:-(?:[^{}]|\$\{[^{}]*\})*\})|\$(?:[A-Za-z_]\w*(?!\w|::)|[1-9])`;
const variable = new RegExp(VARIABLE, 'y');
const comment = /#[^\n]*/y;
/** Everything in a string up to what may mean something: an escape, the begin of a variable, the end. */
const stringText = /[^"\\$]+|\\[^($]|\$/y;
const codeText = /[^"#$()\\]+|[\s\S]/y;

/** What jq itself defines. */
const OWN = new Set(['$ENV', '$__loc__', '$__prog_args', '$ARGS']);

type Cursor = { readonly text: string; at: number; readonly scope: Scope; readonly variables: Map<string, string> };

/**
 * Makes a step's filter one for jq, in which `$x` is a variable of jq's own. `$NAME` and `$1` of the workflow become such
 * variables, which hold text: no value can become part of the filter, and `as $x` goes first. Within a string they are
 * replaced where they are known. `${NAME}` is replaced in the text of the filter, before jq sees it.
 */
export function jqProgram(template: string, scope: Scope): JqProgram {
  const cursor: Cursor = { text: template, at: 0, scope, variables: new Map() };
  let filter = '';
  while (cursor.at < template.length) filter += readCode(cursor) ?? take(cursor, /[\s\S]/y) ?? '';
  return { filter, variables: cursor.variables };
}

/** Code up to the bracket that closes more than was opened, or the end; null when that is here. */
function readCode(cursor: Cursor): string | null {
  let code = '';
  for (let depth = 0; cursor.at < cursor.text.length; ) {
    const char = cursor.text[cursor.at];
    if (char === ')' && depth === 0) break;
    if (char === '(') depth++;
    if (char === ')') depth--;
    code +=
      char === '"' ? readString(cursor) : (readCodeVariable(cursor) ?? take(cursor, comment) ?? take(cursor, codeText));
  }
  return code === '' ? null : code;
}

function readString(cursor: Cursor): string {
  let string = take(cursor, /"/y) ?? '';
  while (cursor.at < cursor.text.length) {
    const opening = take(cursor, /\\\(/y);
    const closing = opening === null ? take(cursor, /"/y) : null;
    if (closing !== null) return string + closing;
    if (opening !== null) string += `${opening}${readCode(cursor) ?? ''}${take(cursor, /\)/y) ?? ''}`;
    else string += readStringVariable(cursor) ?? take(cursor, stringText) ?? take(cursor, /[\s\S]/y) ?? '';
  }
  return string;
}

function readCodeVariable(cursor: Cursor): string | null {
  const found = take(cursor, variable);
  if (found === null) return null;
  if (found === '\\$') return '$';
  if (found.startsWith('${')) return expandText(found, cursor.scope);
  const name = found.slice(1);
  const value = cursor.scope(name);
  if (/^\d/.test(name)) {
    // jq has no such names. In the name of ours nothing of the workflow can be hidden.
    cursor.variables.set(`__wf_${name}`, value ?? '');
    return `$__wf_${name}`;
  }
  if (value !== undefined && !OWN.has(found)) cursor.variables.set(name, value);
  return found;
}

function readStringVariable(cursor: Cursor): string | null {
  const found = take(cursor, variable);
  if (found === null) return null;
  if (found === '\\$') return '$';
  const isKnown = found.startsWith('${') || cursor.scope(found.slice(1)) !== undefined;
  return isKnown ? expandText(found, cursor.scope, escapeJson) : found;
}

function take(cursor: Cursor, pattern: RegExp): string | null {
  pattern.lastIndex = cursor.at;
  const found = pattern.exec(cursor.text)?.[0] ?? null;
  if (found !== null) cursor.at += found.length;
  return found;
}
