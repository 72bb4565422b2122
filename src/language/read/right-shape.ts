import type { Json } from '#core/workflow.ts';
import type { Path } from '../diagnostic.ts';
import { isJsonObject } from '../raw.ts';
import { executorOfType } from './foreign-keys.ts';

/** Maximum length of a value in a help text, in characters; the value is written on one line of YAML. */
const LONGEST = 60;

/**
 * How to write a value with a clear meaning and the wrong shape: `retryPolicy: {limit: 3}` for `retryPolicy: 3`. Null
 * if there is no advice.
 */
export function rightShape(path: Path, value: Json | undefined): string | null {
  const key = path.at(-1);
  const isEntry = typeof key === 'number';
  if (isStep(path)) return scalar(value, (text) => `- {name: NAME, command: ${text}}`);
  if (path.length === 2 && path[0] === 'handlerOn')
    return scalar(value, (text) => `${String(key)}: {command: ${text}}`);
  if (isEntry || key === undefined || !Object.hasOwn(shapes, key)) return null;
  const shown = shapes[key]?.(value) ?? null;
  return shown === null ? null : `${key}: ${shown}`;
}

/** What to write for a list of steps that run at the same time, or of commands, as in other tools; null for other values. */
export function listHelp(path: Path, value: Json | undefined): string | null {
  if (!Array.isArray(value)) return null;
  if (path.at(-1) === 'run') return '"run" names a workflow. Write a command under "command", several under "script".';
  if (!isStep(path)) return null;
  return 'List each step by itself: steps start at the same time unless "depends" or "type: chain" orders them.';
}

function isStep(path: Path): boolean {
  return path.length === 2 && path[0] === 'steps' && typeof path[1] === 'number';
}

/** How to write that there is no limit, which is -1 in other tools; null for any other value. */
export function noLimit(path: Path, value: Json | undefined): string | null {
  const isLimit = /^(?:maxActiveSteps|maxConcurrent|timeoutSec)$/.test(String(path.at(-1)));
  return isLimit && value === -1 ? 'Write 0 for no limit.' : null;
}

const yes = (value: Json | undefined): boolean => value === true || value === 'true' || value === 'yes';

const shapes: { readonly [key: string]: (value: Json | undefined) => string | null } = {
  retryPolicy: (value) => (typeof value === 'boolean' ? '{limit: 3, intervalSec: 10}' : count(value, 'limit')),
  repeatPolicy: (value) =>
    yes(value) ? '{repeat: true, intervalSec: 10}' : count(value, 'intervalSec', 'repeat: true, '),
  continueOn: (value) => (yes(value) ? '{failure: true}' : outcomes(value)),
  handlerOn: (value) => scalar(value, (text) => `{failure: {command: ${text}}}`),
  mailOn: (value) => (yes(value) ? '{failure: true}' : scalar(value, (text) => `{${text}: true}`)),
  env: (value) => scalar(value, (text) => `[${text}]`),
  steps: (value) => scalar(value, (text) => `[{name: NAME, command: ${text}}]`),
  smtp: (value) => scalar(value, (text) => `{host: ${text}}`),
  call: (value) => scalar(value, (text) => `{function: ${text}}`),
  executor: (value) => (isJsonObject(value) ? '{type: TYPE, config: {...}}' : null),
  depends: (value) => (isJsonObject(value) ? `[${Object.keys(value).join(', ')}]` : null),
  shell: (value) => (isTexts(value) ? scalar(value.join(' '), (text) => text) : null),
  script: (value) => (Array.isArray(value) ? '|, with one command per line' : null),
  args: (value) => scalar(value, (text) => `[${text}]`),
};

/** The outcomes that a list names, by their keys; a list of maps has them as keys. */
function outcomes(value: Json | undefined): string | null {
  const entries = Array.isArray(value)
    ? value.flatMap((entry) => (isJsonObject(entry) ? Object.keys(entry) : entry))
    : [];
  const keys = entries.map((entry) => (entry === 'failed' ? 'failure' : entry));
  const isKnown = keys.length > 0 && keys.every((key) => key === 'failure' || key === 'skipped');
  return isKnown ? `{${[...new Set(keys)].map((key) => `${key}: true`).join(', ')}}` : null;
}

/** Words of a command line that need no quotes. */
function isTexts(value: Json | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((word) => typeof word === 'string' && /^[\w./=-]+$/.test(word));
}

function count(value: Json | undefined, key: string, before = ''): string | null {
  return typeof value === 'number' || (typeof value === 'string' && /^\d+$/.test(value))
    ? `{${before}${key}: ${value}}`
    : null;
}

/** Fills in a scalar, quoted if YAML requires it; null if it does not fit on a line. */
function scalar(value: Json | undefined, fill: (text: string) => string): string | null {
  if (typeof value !== 'string' && typeof value !== 'number') return null;
  const text = String(value);
  if (text.length > LONGEST || text.includes('\n')) return null;
  return fill(/^[\w./$][\w ./$=-]*$/.test(text) ? text : JSON.stringify(text));
}

const OTHER_WORKFLOW = 'To run another workflow, write run: NAME and no executor.';

/** What to write instead of executors and step types that `wf` does not have, by their names in lower case. */
const advice = new Map([
  ...['bash', 'sh', 'dash', 'ksh', 'zsh', 'fish', 'pwsh', 'powershell'].map((name) => [name, asShell(name)] as const),
  ...['python', 'python3', 'node', 'perl', 'ruby', 'php'].map((name) => [name, asInterpreter(name)] as const),
  ...['shell', 'local', 'exec', 'process'].map(
    (name) => [name, 'A command needs no executor: remove this one.'] as const,
  ),
  ...['dag', 'subworkflow', 'sub', 'parallel', 'workflow'].map((name) => [name, OTHER_WORKFLOW] as const),
  ['winrm', 'Run the command through the "ssh" executor: the machine needs an SSH server and an "sh".'],
]);

/** What to write instead of an unknown executor; null if there is no advice. */
export function executorAdvice(name: string): string | null {
  return advice.get(name.toLowerCase()) ?? null;
}

function asShell(name: string): string {
  return `For commands and scripts of this shell, write "shell: ${name}" and no executor.`;
}

function asInterpreter(name: string): string {
  return `Write "command: ${name}", the program under "script", and no executor.`;
}

/** A value of Dagu 2 that is not supported (null: the key, but for some values), and what to write instead. */
type RefusedValue = { readonly what: string | null; readonly help: string };

const HTTP = 'Write a step with "executor: http".';
const COMMAND = 'Write a command.';

/** The replacement for step types that are not commands. */
const types: { readonly [type: string]: string } = {
  router: 'Give each of the alternative steps its own "preconditions".',
  llm: HTTP,
  agent: HTTP,
  chat: HTTP,
  harness: HTTP,
  hitl: 'Write "approval: true", or a map with "prompt" and "input".',
  webhook: 'Write "executor: {type: webhook, config: {...}}".',
  terraform: 'Write "executor: {type: terraform, config: {...}}".',
  ansible: 'Write "executor: {type: ansible, config: {...}}".',
};

/** Whether the value at a path is one of Dagu 2 that is not supported, although the key is; null for all others. */
export function refusedValue(path: Path, value: Json | undefined): RefusedValue | null {
  const key = path.at(-1);
  const isStep = path[0] === 'steps' || path[0] === 'handlerOn';
  if (isStep && path.length === 2 && typeof key === 'number' && typeof value === 'string') {
    return { what: 'a step as text', help: `Write a map: ${rightShape(path, value) ?? '- {name: NAME, script: ...}'}` };
  }
  const isKey = path.length === 1 || (isStep && path.length === 3);
  if (isKey && key === 'workerSelector') {
    return { what: null, help: 'Only "local" is supported: all runs are on this machine.' };
  }
  if (typeof value !== 'string') return null;
  if (path.length === 1 && key === 'type' && value === 'agent') return { what: '"type: agent"', help: HTTP };
  if (isKey && isStep && key === 'type' && executorOfType(value) === undefined) {
    const known = Object.hasOwn(types, value) ? types[value] : undefined;
    return { what: `the step type "${value}"`, help: known ?? executorAdvice(value) ?? COMMAND };
  }
  if (path[0] === 'secrets' && key === 'provider') {
    return { what: `the provider "${value}"`, help: 'Write "env: NAME" or "file: PATH".' };
  }
  return null;
}
