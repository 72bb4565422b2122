import { join } from 'node:path';
import type { Outcome } from '../../core/run/run.ts';
import { expandText } from '../../core/words/interpolate.ts';
import { PATH } from '../../core/words/json-path.ts';
import type { JsonObject } from '../../core/workflow.ts';
import { canceled, isAskedToEnd } from '../../processes/end-signal.ts';
import type { Attempt, Executor, Scope } from '../executor.ts';
import { escapeJson, expandJson } from '../http/json-template.ts';
import { type JqEnd, startJq } from './jq-thread/thread.ts';

/**
 * Runs `command`, a filter of jq, over the JSON of `script`. Without a filter the input is printed with sorted keys.
 * Exit codes as jq has them: 2 for input that is not JSON, 3 for a filter that is none, 5 for an error of the filter.
 */
export const executor: Executor = { run };

/** Printed in front of the line that counts, and of no interest in a workflow. */
const NOISE = / \(at <\w+>(?::\d+)?\)| \(Unix shell quoting issues\?\)| at <top-level>(?=, line)/g;

async function run(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  const { step, scope, env, log, signal, kill } = attempt;
  if (isAskedToEnd(attempt)) return canceled;
  const args = argsOf(config, attempt);
  const input = expandJson(step.script ?? '', scope);
  const { stdoutFd, stderrFd } = log;
  const thread = startJq({ args, input, env, stdoutFd, stderrFd }, join(import.meta.dirname, 'jq-thread'));
  const releases = [signal.onAbort(thread.end), kill.onAbort(thread.end)];
  try {
    attempt.started(null);
    const end = await thread.ended;
    return isAskedToEnd(attempt) ? canceled : toOutcome(end);
  } finally {
    for (const release of releases) release();
  }
}

/** Each result is written out when it is there. */
function argsOf(config: JsonObject, { step, scope }: Attempt): string[] {
  const { command } = step;
  const words = [...(typeof command === 'string' ? [command] : (command ?? [])), ...step.args];
  const { filter, variables } = jqProgram(words.join(' '), scope);
  const options = ['--unbuffered', '--indent', '4', ...(config.raw === true ? ['-r'] : [])];
  // As JSON, in which a text may hold anything.
  for (const [name, value] of variables) options.push('--argjson', name, JSON.stringify(value));
  // The blank keeps a filter that begins with a minus from being taken for an option.
  return filter.trim() === '' ? [...options, '-S', '.'] : [...options, filter.replace(/^-/, ' -')];
}

function toOutcome(end: JqEnd): Outcome {
  if ('problem' in end) {
    const message = `jq could not go on: ${end.problem}`;
    return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
  }
  const { code, firstError, lastError } = end;
  if (code === 0 && firstError === '') return { status: 'succeeded', exitCode: 0, outputs: {} };
  const message = firstError === '' ? `exit ${code}` : firstError.replaceAll(NOISE, '').replace(/:$/, '');
  // This jq has 5 for it, as for any error, and 0 for an error that another input follows.
  const exitCode = lastError.startsWith('jq: parse error') ? 2 : code || 5;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}

/** A filter for jq, and the values of the workflow's variables that it uses as jq's own, by name. */
type JqProgram = { readonly filter: string; readonly variables: ReadonlyMap<string, string> };

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
