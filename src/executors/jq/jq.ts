import { join } from 'node:path';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PATH } from '#core/words/json-path.ts';
import type { JsonObject } from '#core/workflow.ts';
import { canceled, isAskedToEnd, onEnd } from '#processes/end-signal.ts';
import { startThread } from '#processes/programs.ts';
import { messageOf } from '#system/errors.ts';
import type { Attempt, Executor, Scope } from '../executor.ts';
import { escapeJson, expandJson } from '../http/json-template.ts';

/** How jq ended: with an exit code and the first and last error line (empty: none), or with a problem of the thread. */
type JqEnd =
  | { readonly code: number; readonly firstError: string; readonly lastError: string }
  | { readonly problem: string };

/** Runs jq in a thread, which `end` stops wherever it is, and which reaches nothing but the open files it writes to. */
function startJq(args: readonly string[], input: string, { env, log: { stdoutFd, stderrFd } }: Attempt) {
  const workerData = { args, input, env, stdoutFd, stderrFd };
  const file = join(import.meta.dirname, 'jq-thread', 'worker.cjs');
  const worker = startThread(file, { workerData, env: {}, execArgv: [], argv: [] });
  let last: JqEnd = { problem: 'it was ended' };
  worker.on('message', (end: JqEnd) => {
    last = end;
  });
  worker.on('error', (error) => {
    last = { problem: messageOf(error) };
  });
  const ended = new Promise<JqEnd>((resolve) => worker.once('exit', () => resolve(last)));
  return { ended, end: () => void worker.terminate() };
}

/**
 * Runs `command`, a jq filter, over the JSON in `script`. Without a filter, prints the input with sorted keys. Exit
 * codes are those of jq: 2 for input that is not JSON, 3 for an invalid filter, 5 for an error of the filter.
 */
export const executor: Executor = { run };

/** Prefixes of jq's error line that mean nothing in a workflow. */
const NOISE = / \(at <\w+>(?::\d+)?\)| \(Unix shell quoting issues\?\)| at <top-level>(?=, line)/g;

async function run(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  if (isAskedToEnd(attempt)) return canceled;
  const input = expandJson(attempt.step.script ?? '', attempt.scope);
  const thread = startJq(argsOf(config, attempt), input, attempt);
  const release = onEnd(attempt, thread.end);
  try {
    attempt.started(null);
    const end = await thread.ended;
    return isAskedToEnd(attempt) ? canceled : toOutcome(end);
  } finally {
    release();
  }
}

/** Each result is written as soon as it is available. */
function argsOf(config: JsonObject, { step, scope }: Attempt): string[] {
  const { command } = step;
  const words = [...(typeof command === 'string' ? [command] : (command ?? [])), ...step.args];
  const { filter, variables } = jqProgram(words.join(' '), scope);
  const options = ['--unbuffered', '--indent', '4', ...(config.raw === true ? ['-r'] : [])];
  // As JSON, in which a text may contain anything.
  for (const [name, value] of variables) options.push('--argjson', name, JSON.stringify(value));
  // The blank keeps a filter that begins with a minus from being read as an option.
  return filter.trim() === '' ? [...options, '-S', '.'] : [...options, filter.replace(/^-/, ' -')];
}

function toOutcome(end: JqEnd): Outcome {
  if ('problem' in end) return failed(`jq failed: ${end.problem}`);
  const { code, firstError, lastError } = end;
  if (code === 0 && firstError === '') return { status: 'succeeded', exitCode: 0, outputs: {} };
  const message = firstError === '' ? `exit ${code}` : firstError.replaceAll(NOISE, '').replace(/:$/, '');
  // This jq exits with 5 for it, as for any error, and with 0 for an error followed by more input.
  const exitCode = lastError.startsWith('jq: parse error') ? 2 : code || 5;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}

/** `\$`; `${NAME}` with its default, which may contain another one; `$NAME` and `$1`. */
const VARIABLE = String.raw`\\\$|\$\{(?:[A-Za-z_]\w*|[1-9]\d*)(?:${PATH})?(?:\}|:-(?:[^{}]|\$\{[^{}]*\})*\})|\$(?:[A-Za-z_]\w*(?!\w|::)|[1-9])`;
const variable = new RegExp(VARIABLE, 'y');
const COMMENT = /#[^\n]*/y;
/** Text of a string up to the next escape, variable or end. */
const STRING_TEXT = /[^"\\$]+|\\[^($]|\$/y;
const CODE_TEXT = /[^"#$()\\]+|[\s\S]/y;

/** The variables that jq itself defines. */
const OWN = new Set(['$ENV', '$__loc__', '$__prog_args', '$ARGS']);

type Cursor = { readonly text: string; at: number; readonly scope: Scope; readonly variables: Map<string, string> };

/**
 * Translates a step's filter, in which `$x` may be a jq variable. The workflow's `$NAME` and `$1` become jq variables
 * that hold text: no value can become part of the filter, and `as $x` takes precedence. Within strings, known variables
 * are replaced. `${NAME}` is replaced in the text of the filter before jq parses it. Returns the filter, and the values of its
 * variables by name.
 */
export function jqProgram(template: string, scope: Scope) {
  const cursor: Cursor = { text: template, at: 0, scope, variables: new Map() };
  let filter = '';
  while (cursor.at < template.length) filter += readCode(cursor) ?? take(cursor, /[\s\S]/y) ?? '';
  return { filter, variables: cursor.variables };
}

/** Reads code up to an unmatched closing bracket, or the end; null if that is here. */
function readCode(cursor: Cursor): string | null {
  let code = '';
  for (let depth = 0; cursor.at < cursor.text.length; ) {
    const char = cursor.text[cursor.at];
    if (char === ')' && depth === 0) break;
    if (char === '(') depth++;
    if (char === ')') depth--;
    code +=
      char === '"'
        ? readString(cursor)
        : (readCodeVariable(cursor) ?? take(cursor, COMMENT) ?? take(cursor, CODE_TEXT));
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
    else string += readStringVariable(cursor) ?? take(cursor, STRING_TEXT) ?? take(cursor, /[\s\S]/y) ?? '';
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
    // jq has no numeric names. The prefix cannot hide a variable of the workflow.
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
