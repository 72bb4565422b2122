import { scanShell } from '#core/words/shell-scan.ts';
import type { MapEntry, MapNode, Node, ScalarNode } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { entry, Fields, list, map, type Report, scalar, textIn } from './form-nodes.ts';

/** What the scopes of names stand for in a file. */
export type Scopes = {
  /** The values of `consts` by name. */
  readonly consts: ReadonlyMap<string, string>;
  /** The ids of steps whose outputs are variables. */
  readonly humans: ReadonlySet<string>;
  /** Scopes that are names of the file itself. */
  readonly defined: ReadonlySet<string>;
  /** Whether references in single quotes and in scripts are replaced too. */
  readonly isDagu3: boolean;
  /** Several steps use the directory of artifacts, of which each step of wf has its own. */
  readonly isSharingArtifacts?: boolean;
  readonly report: Report;
};

/** `${scope.name...}`, and an escaped dollar, to skip it. */
const SCOPED = /\\\$|\$\{(params|env|steps|context)\.([A-Za-z_][\w-]*)([^{}:]*)(\}|:-)/g;
const ANY_SCOPED = /\$\{(?:params|consts|env|steps|context)\./;

/** The variables of a run for `${context...}`. */
const CONTEXT: { readonly [name: string]: string } = {
  'dag.name': 'WF_WORKFLOW',
  'run.id': 'WF_RUN_ID',
  'run.status': 'WF_STATUS',
  'run.scheduled_at': 'WF_SCHEDULED_FOR',
  'attempt.id': 'WF_ATTEMPT',
  'step.id': 'WF_STEP',
  'step.name': 'WF_STEP',
  'paths.log_file': 'DAG_RUN_LOG_FILE',
  'paths.step_stdout_file': 'DAG_RUN_STEP_STDOUT_FILE',
  'paths.step_stderr_file': 'DAG_RUN_STEP_STDERR_FILE',
  'paths.step_output_file': 'WF_OUTPUT_FILE',
  'paths.artifacts_dir': 'WF_ARTIFACTS_DIR',
};

/** The directory of artifacts, which in Dagu all steps share. */
export const ARTIFACTS = '${context.paths.artifacts_dir}';

const NO_SCOPES = { humans: new Set<string>(), defined: new Set<string>() };

const NAME = /^[A-Za-z][A-Za-z0-9_]*$/;

/** Whether a text may have references with a scope. */
export function hasScopes(text: string): boolean {
  return ANY_SCOPED.test(text);
}

/** The values of `consts`, a list of maps with one entry, of which a value may use earlier ones. */
export function constantsOf(node: Node | null, report: Report): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  if (node === null) return found;
  if (node.kind !== 'list') {
    report('wrong-type', node, '"consts" must be a list', { help: 'Write consts: [{NAME: value}].' });
    return found;
  }
  for (const item of node.items) {
    const [only, second] = item.kind === 'map' ? item.entries : [];
    const [name, text] = [textIn(only?.key), textIn(only?.value)];
    if (only === undefined || second !== undefined || name === null || text === null) {
      report('wrong-type', item, 'an entry of "consts" must be a map with one name and its value');
    } else if (!NAME.test(name)) report('invalid-name', item, `"${name}" is not the name of a constant`);
    else if (found.has(name)) report('duplicate-key', item, `the constant "${name}" is defined twice`);
    else {
      const value = withConstants(text, only.value ?? item, { ...NO_SCOPES, consts: found, isDagu3: true, report });
      if (/[$`]/.test(value)) {
        const help = 'Write it under "env" or "params".';
        report('wrong-value', only.value ?? item, `the constant "${name}" cannot have variables or backticks`, {
          help,
        });
      }
      found.set(name, value);
    }
  }
  return found;
}

/** The text with the values of constants. */
function withConstants(text: string, at: Node, { consts, isDagu3, isSharingArtifacts, report }: Scopes): string {
  if (isSharingArtifacts === true && text.includes(ARTIFACTS)) {
    const help = `Each step has a directory of its own: write "artifact.write" and "artifact.read", or \${ID.artifacts} for the files of an earlier step.`;
    report('not-supported', at, `several steps use ${ARTIFACTS}`, { help });
  }
  if (!isDagu3 || !text.includes('${consts.')) return text;
  return text.replaceAll(/(\\?)\$\{consts\.(\w+)\}/g, (written: string, escaped: string, name: string) => {
    if (escaped !== '') return written;
    const value = consts.get(name);
    if (value === undefined) {
      const help = `Write it before its use: consts: [{${name}: value}].`;
      report('wrong-value', at, `unknown constant "${name}"`, { help });
    }
    return value ?? '';
  });
}

/** Keys whose texts a shell reads, or `wf` by its rules of quoting. A condition with `expected` is another text. */
const SHELL_TEXTS = new Set(['command', 'precondition', 'preconditions', 'condition']);
const SHELL = /^(?:\S*\/)?(?:a|ba|da|k|mk|z)?sh(?:\s|$)/;

/** Whether a command starts a shell that expands variables as `sh` does. */
export function isShell(command: string): boolean {
  return SHELL.test(command);
}

/** Replaces the references with a scope in all texts of a tree by those of wf. */
export function withoutScopes(root: MapNode, scopes: Scopes): Node {
  const visit = (node: Node, key: string): Node => {
    if (node.kind === 'scalar') return rewritten(node, SHELL_TEXTS.has(key), scopes);
    if (node.kind === 'list') {
      // A word of a list is not read by a shell.
      const items = node.items.map((item) => visit(item, key === 'command' ? '' : key));
      return items.some((item, at) => item !== node.items[at]) ? { ...node, items } : node;
    }
    if (node.kind !== 'map') return node;
    const isCompared = new Fields(node.entries).get('expected') !== null;
    const entries = node.entries.map((found): MapEntry => {
      const { key: at, value } = found;
      const name = canonicalKey(textIn(at) ?? '');
      if (value === null || name === 'script') return found;
      const read = visit(value, isCompared && name === 'condition' ? '' : name);
      return read === value ? found : { key: at, value: read };
    });
    const fields = new Fields(entries);
    if (scopes.isDagu3 && fields.get('script')?.value.kind === 'scalar') {
      return { ...node, entries: withScript(fields, root, scopes) };
    }
    return entries.some((found, at) => found !== node.entries[at]) ? { ...node, entries } : node;
  };
  return visit(root, '');
}

const INTERPRETER = /^#![ \t]*(?:\S*\/env[ \t]+(?:-S[ \t]+)?)?([^\n]+)/;

/** A script is not changed by `wf` when it runs: parts of JSON and results of steps become variables of the step. */
function withScript(fields: Fields, root: MapNode, scopes: Scopes): readonly MapEntry[] {
  const script = fields.take('script');
  if (script === null) return fields.rest;
  const { key, value: node } = script;
  const text = withConstants(textIn(node) ?? '', node, scopes);
  const executor = fields.get('executor');
  if (executor !== null && textIn(executor.value) !== 'command') {
    return [...fields.rest, entry('script', key, scalar(inText(text, scopes), node))];
  }
  const settings = [fields.get('command'), fields.get('shell'), new Fields(root.entries).get('shell')];
  const named = settings.map((field) => textIn(field?.value)).find((found) => found !== null);
  const interpreter = INTERPRETER.exec(text)?.[1] ?? named ?? 'sh';
  if (!isShell(interpreter)) {
    if (hasScopes(text)) {
      const message = `a reference with a scope is not replaced in a script for "${interpreter}"`;
      scopes.report('not-supported', node, message, { help: 'Read the variable from the environment of the script.' });
    }
    return [...fields.rest, entry('script', key, scalar(text, node))];
  }
  const { code, references } = withVariables(inShell(text, scopes));
  const added = [...references].map(([reference, name]) => map([entry(name, key, scalar(reference, node))], node));
  const own = added.length === 0 ? null : fields.take('env');
  const given = own === null ? [] : own.value.kind === 'list' ? own.value.items : [own.value];
  if (added.length > 0) fields.add(entry('env', own?.key ?? key, list([...given, ...added], own?.value ?? node)));
  return [...fields.rest, entry('script', key, scalar(code, node))];
}

/** The code with a variable for each `${NAME.key}` that its shell would expand, and the references by their variables. */
function withVariables(code: string): { readonly code: string; readonly references: ReadonlyMap<string, string> } {
  const references = new Map<string, string>();
  let result = '';
  let at = 0;
  for (const { start, end, name, path } of scanShell(code).paths) {
    if (path.startsWith('[')) continue;
    const reference = `\${${name}${path}}`;
    const variable = references.get(reference) ?? `WF_REFERENCE_${references.size + 1}`;
    references.set(reference, variable);
    result += `${code.slice(at, start)}\${${variable}`;
    at = end;
  }
  return { code: result + code.slice(at), references };
}

function rewritten(node: ScalarNode, isShell: boolean, scopes: Scopes): ScalarNode {
  const text = textIn(node) ?? '';
  if (!hasScopes(text)) return node;
  const plain = withConstants(text, node, scopes);
  return { ...scalar(isShell ? inShell(plain, scopes) : inText(plain, scopes), node), anchor: node.anchor };
}

function inText(text: string, scopes: Scopes): string {
  return text.replaceAll(SCOPED, (...found) => nameFor(found, scopes));
}

/** The same text with references of wf. Within single quotes, the quotes are closed around a reference. */
function inShell(code: string, scopes: Scopes): string {
  if (!hasScopes(code)) return code;
  const { paths, singleQuoted } = scanShell(code);
  const expanded = new Set(paths.map(({ start }) => start));
  return code.replaceAll(SCOPED, (...found) => {
    const [written, scope, , , end, at] = found as readonly (string | number | undefined)[];
    if (expanded.has(Number(at))) return nameFor(found, scopes);
    const isQuoted = scopes.isDagu3 && singleQuoted.some(([start, close]) => start < Number(at) && Number(at) < close);
    const name = isQuoted && scope !== undefined && end === '}' ? nameFor(found, scopes) : null;
    return name === null || name.startsWith('\\') ? String(written) : `'"${name}"'`;
  });
}

/** A reference of wf, or the text that stays if the scope does not know the name. */
function nameFor(found: readonly unknown[], { humans, defined }: Scopes): string {
  const [written, scope, name, rest, end] = found as readonly (string | undefined)[];
  if (scope === undefined || name === undefined || rest === undefined || defined.has(scope)) return String(written);
  if (scope === 'params' || scope === 'env') return `\${${name}${rest}${end}`;
  if (scope === 'steps') {
    const output = /^\.outputs\.(.+)$/.exec(rest)?.[1];
    return humans.has(name) && output !== undefined ? `\${${output}${end}` : `\${${name}${rest}${end}`;
  }
  const variable = CONTEXT[`${name}${rest}`];
  return variable === undefined ? `\\${written}` : `\${${variable}${end}`;
}

/** The scopes that are names of variables or steps in the file: `${params.X}` then is a part of the JSON of that variable. */
export function definedScopes(root: Node): ReadonlySet<string> {
  const defined = new Set<string>();
  const visit = (node: Node | null, key: string): void => {
    if (node?.kind === 'scalar' && NAMING.has(key)) {
      for (const [, name = ''] of textIn(node)?.matchAll(/(?:^|\s)\$?\{?(params|env|steps|context)(?:=|\}?$)/g) ?? [])
        defined.add(name);
    } else if (node?.kind === 'list') for (const item of node.items) visit(item, key);
    else if (node?.kind === 'map') {
      for (const { key: at, value } of node.entries) {
        const name = textIn(at) ?? '';
        if (SETTING.has(key)) defined.add(name);
        visit(value, SETTING.has(key) && name !== 'name' ? '' : canonicalKey(name));
      }
    }
  };
  visit(root, '');
  return defined;
}

/** Keys whose texts name variables or steps, and whose maps have names of variables as keys. */
const NAMING = new Set(['output', 'name', 'id', 'env', 'params', 'secrets', 'input']);
const SETTING = new Set(['env', 'params', 'secrets']);
