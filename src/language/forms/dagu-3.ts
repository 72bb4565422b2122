import { didYouMean, nearNames } from '#system/near-names.ts';
import type { DiagnosticCode } from '../codes.ts';
import { IGNORED, type Path, type Problem, type ProblemOptions, problem, type Source } from '../diagnostic.ts';
import { type MapEntry, type MapNode, type Node, rangeOf, type YamlDocument } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import type { Reading } from './action-steps.ts';
import { withBuildPaths } from './build-paths.ts';
import { isCommandText, oneAfterAnother } from './command-list.ts';
import { expanded, mergedStep, readCustomActions } from './custom-actions.ts';
import { actionNames, declarationsOf, isKnownAction, stepOfAction, unsupported, withTexts } from './dagu-3-actions.ts';
import { checkArtifactPath, keepsArtifacts, keptArtifacts } from './file-actions.ts';
import { readLoop, surroundingsOf } from './foreach.ts';
import {
  entry,
  type Field,
  Fields,
  jsonOf,
  list,
  map,
  namedMaps,
  scalar,
  textIn,
  withoutAliases,
} from './form-nodes.ts';
import { ARTIFACTS, constantsOf, definedScopes, hasScopes, type Scopes, withoutScopes } from './scoped-names.ts';

/** A document in the form of wf, and the problems of what could not be read. */
export type FormRead = {
  readonly document: YamlDocument;
  readonly problems: readonly Problem[];
  /** The documents that its steps with `foreach` run, each of which has a name. */
  readonly documents: readonly YamlDocument[];
};

/** Without one of these keys a file is not of this form. */
const SIGN = /(?:^|[\s{,"'-])(?:action|run|consts|actions|tools|foreach)["']?[ \t]*:/im;
const COMMENT = /^#\s*dagu:\s*3\b/;

/** Whether the documents of a text are in the form of Dagu 2.15: steps with `action`, or with a command under `run`. */
export function isDagu3(text: string, documents: readonly (YamlDocument | null)[]): boolean {
  if (isDagu3Mark(text)) return true;
  return SIGN.test(text) && documents.some((document) => document !== null && hasSign(document.contents));
}

/** Whether a text begins with the comment `# dagu: 3`. */
export function isDagu3Mark(text: string): boolean {
  return COMMENT.test(text);
}

function hasSign(contents: Node | null): boolean {
  if (contents?.kind !== 'map') return false;
  const top = new Fields((withoutAliases(contents) as MapNode).entries);
  if (['consts', 'actions', 'tools'].some((name) => top.get(name) !== null) || isBuild(top)) return true;
  const groups = [top.get('steps'), top.get('handleron')].map((field) => field?.value);
  return groups.flatMap(mapsIn).some(({ entries }) => {
    const fields = new Fields(entries);
    if (fields.get('action') !== null || fields.get('foreach') !== null) return true;
    const run = fields.get('run')?.value;
    if (run?.kind === 'list') return true;
    return fields.get('params') === null && isCommandText(textIn(run) ?? '');
  });
}

/** The maps in a list, or in the values of a map. */
function mapsIn(node: Node | undefined): MapNode[] {
  return namedMaps(node).map(({ map }) => map);
}

/** Whether the steps of a file make files from files. */
function isBuild(top: Fields): boolean {
  return /^(?:build|incremental)$/.test(textIn(top.get('type')?.value) ?? '');
}

/**
 * Reads a document in the form of Dagu 2.15: a tree of the same positions in the form of wf. `name`: with
 * which the names of the documents of its loops begin; null for its own, empty for the first document of a file.
 */
export function readDagu3(source: Source, document: YamlDocument, name: string | null = ''): FormRead {
  const { contents } = document;
  if (contents?.kind !== 'map') return { document, problems: [], documents: [] };
  const problems: Problem[] = [];
  const report = (code: DiagnosticCode, at: Node, message: string, options: ProblemOptions = {}) => {
    const [start, end] = rangeOf(at);
    const lineEnd = source.text.indexOf('\n', start);
    // The mark of a map or a long text ends with its first line.
    const range = [start, lineEnd === -1 ? end : Math.min(end, lineEnd)] as const;
    problems.push(problem(code, { source, range }, message, options));
  };
  const warn = (path: Path, message: string, help: string) => {
    problems.push(problem('mixed-forms', { source, path, part: 'key' }, message, { severity: 'warning', help }));
  };
  const { entries } = withoutAliases(contents) as MapNode;
  const top = new Fields(entries);
  const around = surroundingsOf(
    new Fields(entries),
    mapsIn(top.get('steps')?.value),
    report,
    name ?? textIn(top.get('name')?.value) ?? '',
  );
  const custom = readCustomActions(top.take('actions'), report);
  const artifacts = keptArtifacts(top.get('steps')?.value, textIn(top.get('type')?.value) === 'chain');
  const reading: Reading = { report, warn, humans: new Set(), routes: new Map(), artifacts, around, loops: [], custom };
  const isOfBuild = isBuild(top);
  const consts = constantsOf(top.take('consts')?.value ?? null, report);
  readTop(top, reading);
  const rest = top.rest.map((found) => {
    const name = canonicalKey(textIn(found.key) ?? '');
    if (found.key === null || found.value === null) return found;
    if (name === 'steps') {
      const steps = isOfBuild ? withBuildPaths(found.value, top, report) : found.value;
      return { key: found.key, value: readSteps(steps, reading) };
    }
    if (name === 'handleron') return { key: found.key, value: eachStep(found.value, 'handlerOn', reading) };
    return name === 'params' ? { key: found.key, value: declarationsIn(found.value) } : found;
  });
  const users = [top.get('steps'), top.get('handleron')]
    .flatMap((field) => mapsIn(field?.value))
    .filter(usesArtifactsDir);
  const isSharingArtifacts = users.length > 1;
  const scopes: Scopes = {
    consts,
    humans: reading.humans,
    defined: new Set(),
    isDagu3: true,
    isSharingArtifacts,
    report,
  };
  const read = withoutScopes(map(rest, contents), scopes);
  const loops = reading.loops.map((loop) => readDagu3(source, { ...document, contents: loop }, null));
  return {
    document: { ...document, contents: read },
    problems: [...problems, ...loops.flatMap((loop) => loop.problems)],
    documents: loops.flatMap((loop) => [loop.document, ...loop.documents]),
  };
}

/** Reads `${params.NAME}` and the like in a document of another form; the document itself if it has none. */
export function readScopes(source: Source, document: YamlDocument): YamlDocument {
  const { contents } = document;
  if (contents?.kind !== 'map' || !hasScopes(source.text)) return document;
  const defined = definedScopes(contents);
  const scopes = { consts: new Map(), humans: new Set<string>(), defined, isDagu3: false, report: () => undefined };
  return { ...document, contents: withoutScopes(contents, scopes) };
}

/** Keys of the top level that wf has not, or has in another form. */
function readTop(top: Fields, { report }: Reading): void {
  const tools = top.take('tools');
  if (tools !== null) {
    const message = '"tools" has no effect: wf installs no programs, so they must be in PATH';
    report('ignored-key', tools.key, message, IGNORED);
  }
  const args = top.take('shellargs');
  if (isBuild(top)) {
    const type = top.take('type');
    if (type !== null) top.add(entry('type', type.key, scalar('graph', type.value)));
  }
  const shell = top.take('shell');
  if (shell !== null) top.add(entry('shell', shell.key, shellOf(shell, args)));
  else if (args !== null) report('missing-key', args.key, '"shell_args" needs "shell"');
}

/** A shell and its arguments as one text, without the `-c` that wf adds itself. */
function shellOf(shell: Field, args: Field | null): Node {
  const nodes: readonly (Node | undefined)[] = [shell.value, args?.value];
  const words = nodes.flatMap((node): readonly (Node | undefined)[] => (node?.kind === 'list' ? node.items : [node]));
  const texts = words.flatMap((word) => textIn(word) ?? []);
  return scalar([texts[0], ...texts.slice(1).filter((text) => text !== '-c')].join(' '), shell.value);
}

/** Whether texts of a step name the directory of artifacts as this form does. */
function usesArtifactsDir(step: MapNode): boolean {
  return JSON.stringify(jsonOf(step)).includes(ARTIFACTS);
}

/** The steps; those that a router names get its condition. */
function readSteps(node: Node, reading: Reading): Node {
  const steps = eachStep(node, 'steps', reading);
  return reading.routes.size === 0 ? steps : withRoutes(steps, reading);
}

/** Applies the reader of a step to all maps of a list or map; a text is a command, as in other forms. */
function eachStep(node: Node, group: 'steps' | 'handlerOn', reading: Reading): Node {
  const read = (step: Node | null, key: string | number) =>
    step?.kind === 'map' ? readStep(step, [group, key], reading) : step;
  if (node.kind === 'list') return { ...node, items: node.items.flatMap((item, index) => read(item, index) ?? []) };
  if (node.kind !== 'map') return node;
  const keyOf = (key: Node | null) => (group === 'steps' ? textIn(key) : canonicalKey(textIn(key) ?? '')) ?? '';
  return { ...node, entries: node.entries.map(({ key, value }) => ({ key, value: read(value, keyOf(key)) })) };
}

/** Keys of earlier forms by which a step says what it does. */
const EARLIER = ['command', 'script', 'executor', 'call', 'exec', 'type'] as const;

/** Maximum number of actions of the file within each other. */
const MOST_EXPANSIONS = 10;

function readStep(step: MapNode, path: Path, reading: Reading, depth = 0): MapNode {
  const { report } = reading;
  const fields = new Fields(step.entries);
  const called = fields.get('action');
  const custom = reading.custom.get(textIn(called?.value) ?? '');
  if (called !== null && custom !== undefined) {
    const name = textIn(called.value) ?? '';
    if (depth === MOST_EXPANSIONS) {
      report('wrong-value', called.value, `the action "${name}" calls itself, or more than ${MOST_EXPANSIONS} others`);
      return map([entry('command', step, scalar('true', step))], step);
    }
    fields.take('action');
    const entries = expanded(name, custom, called.value, fields.take('with'), report);
    return readStep(map(mergedStep(fields.rest, entries), step), path, reading, depth + 1);
  }
  const foreach = fields.take('foreach');
  if (foreach !== null) {
    const loop = readLoop(foreach, fields, reading.around);
    if (loop !== null) reading.loops.push(loop.document);
    return map(
      [...commonEntries(fields, step, reading), ...(loop?.entries ?? [entry('command', step, scalar('true', step))])],
      step,
    );
  }
  const run = fields.take('run');
  const action = fields.take('action');
  const earlier = EARLIER.map((name) => fields.get(name)).find((field) => field !== null);
  if (run === null && action === null) {
    if (earlier != null) {
      const message = `${labelOf(fields)} has the key "${textIn(earlier.key)}" of an earlier form of the file`;
      const help = 'A file may have steps of both forms. In this one, "run" is a command.';
      reading.warn([...path, canonicalKey(textIn(earlier.key) ?? '')], message, help);
    }
    const isOnlyOutput = earlier == null && fields.get('output')?.value.kind === 'map';
    const work = isOnlyOutput ? [entry('command', step, scalar('true', step))] : [];
    return map([...commonEntries(fields, step, reading), ...work], step);
  }
  if (run !== null && action !== null) {
    const help = 'Write "run" for a command of the shell, and "action" for anything else.';
    report('conflicting-keys', action.key, `${labelOf(fields)} has both "run" and "action"`, { help });
  }
  if (earlier != null) {
    const message = `${labelOf(fields)} has both "${textIn((run ?? action)?.key)}" and "${textIn(earlier.key)}"`;
    report('conflicting-keys', earlier.key, message, { help: 'Remove one of them.' });
    fields.take(canonicalKey(textIn(earlier.key) ?? ''));
  }
  const settings = fields.take('with');
  const work = run !== null ? workOfRun(run, settings, reading) : action === null ? [] : workOf(action, settings);
  return map([...commonEntries(fields, step, reading), ...work], step);

  function workOf({ key, value }: Field, given: Field | null): readonly MapEntry[] {
    const name = textIn(value) ?? '';
    if (!isKnownAction(name)) {
      refuseAction(name, value, reading);
      return [entry('command', key, scalar('true', value))];
    }
    return stepOfAction({ name, at: value, step: fields, settings: given }, reading);
  }
}

function refuseAction(name: string, at: Node, { report, custom }: Reading): void {
  const help = unsupported(name);
  if (help !== null) {
    report('not-supported', at, `the action "${name}" is not supported`, { label: 'not supported', help });
  } else if (name.includes('@')) {
    const instead = 'Share steps by "imports", or run a workflow: action: dag.run.';
    report('not-supported', at, `the remote action "${name}" is not supported`, { help: instead });
  } else {
    const near = nearNames(name, [...custom.keys(), ...actionNames()]);
    const help = near.length === 0 ? { help: `Actions: ${actionNames().join(', ')}.` } : {};
    report('unknown-action', at, `unknown action "${name}"`, { label: () => didYouMean(near), ...help });
  }
}

/** What names a step in messages. */
function labelOf(fields: Fields): string {
  const name = textIn(fields.get('name')?.value) ?? textIn(fields.get('id')?.value);
  return name === null ? 'the step' : `step "${name}"`;
}

/** The entries of `run`: one line is a command, several are a script, a list is several commands. */
function workOfRun(run: Field, settings: Field | null, { report }: Reading): readonly MapEntry[] {
  const { key, value } = run;
  const given = new Fields(settings?.value.kind === 'map' ? settings.value.entries : []);
  const [shell, args] = [given.take('shell'), given.take('shellargs')];
  if (shell === null && args !== null) report('missing-key', args.key, '"shell_args" needs "shell"');
  for (const other of given.rest) {
    const name = textIn(other.key) ?? '';
    const message = `"${name}" in the "with" of a "run" step is not supported`;
    const help = 'Known keys here: shell, shell_args.';
    report('not-supported', other.key ?? value, message, { label: 'not supported', help });
  }
  const withShell = shell === null ? [] : [entry('shell', shell.key, shellOf(shell, args))];
  if (value.kind === 'list') return [entry('command', key, commandsOf(value.items, value)), ...withShell];
  const text = textIn(value);
  if (text === null || text.trim() === '') {
    const message = text === null ? '"run" must be text, or a list of commands' : '"run" is empty';
    report(text === null ? 'wrong-type' : 'wrong-value', value, message);
    return [entry('command', key, scalar('true', value))];
  }
  if (/\n/.test(text.trim())) return [entry('script', key, value), ...withShell];
  return [entry('command', key, value), ...withShell];
}

/** A list that every reader takes for several commands, also if one of them is a single word. */
function commandsOf(items: readonly Node[], at: Node): Node {
  const texts = items.map((item) => {
    if (item.kind !== 'map') return textIn(item) ?? '';
    // YAML reads `echo: text` as a map.
    return item.entries.map(({ key, value }) => `${textIn(key) ?? ''}: ${textIn(value) ?? ''}`).join('\n');
  });
  return scalar(oneAfterAnother(texts), at);
}

/** The keys that every step has, whatever it does. */
function commonEntries(fields: Fields, step: MapNode, { report }: Reading): readonly MapEntry[] {
  const dependencies = fields.take('dependencies');
  if (dependencies !== null) {
    const message = '"dependencies" has no effect: steps run in the directory of the workflow, with all its files';
    report('ignored-key', dependencies.key, message, IGNORED);
  }
  const output = fields.get('output');
  if (output?.value.kind === 'map') {
    fields.take('output');
    fields.add({ key: output.key, value: withTexts(output.value) });
  }
  for (const name of ['stdout', 'stderr']) {
    const stream = fields.get(name);
    if (stream?.value.kind !== 'map') continue;
    fields.take(name);
    const parts = new Fields(stream.value.entries);
    const outputs = parts.take('outputs');
    const kept = parts.take('artifact');
    if (kept !== null) {
      checkArtifactPath(kept.value, `the artifact of "${name}"`, report);
      fields.add(entry(name, stream.key, scalar(`\${WF_ARTIFACTS_DIR}/${textIn(kept.value) ?? ''}`, kept.value)));
    }
    const declared = outputs?.value.kind === 'map' ? new Fields(outputs.value.entries).get('fields') : null;
    if (declared?.value.kind === 'map')
      fields.add(entry('output', outputs?.key ?? declared.key, published(declared.value, name)));
    else if (outputs !== null) report('wrong-type', outputs.value, `"outputs" in "${name}" needs "fields", a map`);
    for (const other of parts.rest) {
      const at = other.key ?? stream.value;
      const message = `"${textIn(other.key)}" in "${name}" is not supported`;
      report('not-supported', at, message, { label: 'not supported', help: `Write ${name}: FILE.` });
    }
  }
  // In scripts the directory exists only for steps with this key.
  if (new Fields(step.entries).get('foreach') === null && fields.get('artifacts') === null && keepsArtifacts(step)) {
    fields.add(entry('artifacts', scalar('artifacts', step.entries.at(-1)?.key ?? step), list([], step)));
  }
  return fields.rest;
}

/** `output` as a map that reads the fields from a stream. */
function published(fields: MapNode, stream: string): Node {
  const entries = fields.entries.flatMap(({ key, value }): readonly MapEntry[] => {
    if (key === null) return [];
    const from = entry('from', key, scalar(stream, key));
    return [{ key, value: map([from, ...(value?.kind === 'map' ? value.entries : [])], value ?? key) }];
  });
  return map(entries, fields);
}

/** Declared values as the entries of a list: those of a JSON Schema of an object, or the node itself. */
function declarationsIn(node: Node): Node {
  const fields = node.kind === 'map' ? new Fields(node.entries) : null;
  const isSchema = textIn(fields?.get('type')?.value) === 'object' && fields?.get('properties')?.value.kind === 'map';
  return isSchema && node.kind === 'map' ? declarationsOf(node) : node;
}

/** Adds to the steps that a router names its condition, and that they follow it. */
function withRoutes(steps: Node, { routes, report }: Reading): Node {
  const known = new Set<string>();
  const routed = (step: Node | null, name: string | null): Node | null => {
    if (step?.kind !== 'map') return step;
    const fields = new Fields(step.entries);
    const names = [name, textIn(fields.get('name')?.value), textIn(fields.get('id')?.value)].flatMap(
      (own) => own ?? [],
    );
    const route = names.map((own) => routes.get(own)).find((found) => found !== undefined);
    if (route === undefined) return step;
    for (const own of names) known.add(own);
    const { at, value, pattern, router } = route;
    const condition = map([entry('condition', at, value), entry('expected', at, pattern)], at);
    const more = { depends: [scalar(router, at)], preconditions: [condition] };
    for (const [key, added] of Object.entries(more)) {
      const own = fields.take(key) ?? (key === 'preconditions' ? fields.take('precondition') : null);
      const items = own === null ? [] : own.value.kind === 'list' ? own.value.items : [own.value];
      fields.add(entry(key, own?.key ?? at, list([...items, ...added], own?.value ?? at)));
    }
    // Steps after one that was not chosen may start.
    if (fields.get('continueon') === null) {
      fields.add(entry('continueOn', at, map([entry('skipped', at, scalar('true', at))], at)));
    }
    return { ...step, entries: fields.rest };
  };
  const result: Node =
    steps.kind === 'list'
      ? { ...steps, items: steps.items.flatMap((step) => routed(step, null) ?? []) }
      : steps.kind === 'map'
        ? { ...steps, entries: steps.entries.map(({ key, value }) => ({ key, value: routed(value, textIn(key)) })) }
        : steps;
  for (const [name, { at }] of routes) {
    if (!known.has(name)) report('missing-dependency', at, `there is no step "${name}" for this route`);
  }
  return result;
}
