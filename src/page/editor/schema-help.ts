import {
  autocompletion,
  type Completion,
  type CompletionContext,
  type CompletionResult,
  startCompletion,
} from '@codemirror/autocomplete';
import type { Extension, Text } from '@codemirror/state';
import { type EditorView, hoverTooltip, type Tooltip } from '@codemirror/view';
import { canonicalKey, isOffered, type Schema, typeText } from '#language/schema/schema-type.ts';
import { keyAt, type PathStep, positionAt } from './yaml-position.ts';

/** Completion and documentation from the schema of workflow files. */
export function schemaHelp(schema: Schema): Extension {
  return [
    autocompletion({ override: [(context) => complete(schema, context)], icons: false }),
    hoverTooltip((view, position) => explain(schema, view, position)),
  ];
}

/** Offers the keys and values allowed at the cursor by the schema of workflow files. */
function complete(root: Schema, { state, pos, explicit }: CompletionContext): CompletionResult | null {
  const position = positionAt(state, pos);
  if (position === null) return null;
  const schema = schemaAt(root, position.path);
  const word = state.sliceDoc(position.from, pos);
  if (schema === null || (word === '' && !explicit && position.kind !== 'value')) return null;
  const options = [
    ...(position.kind === 'key' ? keysOf(root, schema, position.present).map(keyOption(position.isFlow === true)) : []),
    ...(position.kind === 'key' && !isListEntry(position.path) ? [] : words(root, schema, position.path, state.doc)),
    ...(position.kind === 'entry' ? entryOptions(root, schema) : []),
  ];
  if (options.length === 0) return null;
  return { from: position.from, options, validFor: /^[\w.$-]*$/ };
}

/** Returns the documentation of the key at a position. */
function explain(root: Schema, { state }: EditorView, pos: number): Tooltip | null {
  const found = keyAt(state, pos);
  const schema = found === null ? null : schemaAt(root, found.position.path);
  if (found === null || schema === null || schema.description === undefined) return null;
  const key = found.position.path.map((step) => step.key).filter((name) => name !== null);
  const create = () => ({ dom: documentation(key.join('.'), schema) });
  return { pos: found.from, end: found.to, above: true, create };
}

function isListEntry(path: readonly PathStep[]): boolean {
  return path.at(-1)?.key === null;
}

function keyOption(isFlow: boolean): (key: FileKey, index: number) => Completion {
  return ({ key, schema, isRequired }, index) => ({
    label: key,
    detail: isRequired ? `${typeText(schema)}, required` : typeText(schema),
    type: 'property',
    // In schema order: the most important keys come first.
    boost: (isRequired ? 50 : 0) - index,
    info: () => documentation(key, schema),
    apply: (view, _, from, to) => insertKey(view, key, isFlow ? ': ' : tailOf(schema), from, to),
  });
}

/** The text before a new value in block style: a space, or a line break for a map or a list. */
function tailOf(schema: Schema): string {
  const types = [schema.type ?? []].flat();
  if (types[0] === 'object') return ':\n';
  return types[0] === 'array' && !types.includes('string') ? ':\n- ' : ': ';
}

function insertKey(view: EditorView, key: string, tail: string, from: number, to: number): void {
  const line = view.state.doc.lineAt(from);
  const rest = view.state.sliceDoc(to, line.to);
  const below = `\n${' '.repeat(from - line.from + 2)}`;
  const insert = /^\s*:/.test(rest) ? key : key + tail.replace('\n', below);
  const selection = { anchor: from + insert.length };
  view.dispatch({ changes: { from, to, insert }, selection, userEvent: 'input.complete' });
  startCompletion(view);
}

/** `- name: `, or another first key for an entry of a list of maps. */
function entryOptions(root: Schema, list: Schema): readonly Completion[] {
  const entry = schemaAt({ ...root, ...list, $defs: root.$defs ?? {} }, [{ key: null, beside: new Map() }]);
  const [first] = entry === null ? [] : keysOf(root, entry, new Map());
  const begin = first === undefined ? '- ' : `- ${first.key}: `;
  return [{ label: begin.trim(), apply: begin, detail: 'another entry', type: 'text' }];
}

function words(root: Schema, schema: Schema, path: readonly PathStep[], text: Text): readonly Completion[] {
  const key = path.findLast((step) => step.key !== null)?.key;
  if (key === 'depends') return stepNames(text).map((label) => ({ label, type: 'variable', detail: 'step' }));
  const list = isListEntry(path) ? schemaAt(root, path.slice(0, -1)) : null;
  const offered = wordsOf(schema).length > 0 || list === null ? wordsOf(schema) : wordsOf(list);
  return offered.map((label) => ({
    label,
    type: 'constant',
    ...(label === String(schema.default) ? { detail: 'default' } : {}),
  }));
}

function stepNames(text: Text): readonly string[] {
  const names = text.toString().matchAll(/^\s*(?:-\s+)?(?:name|id):\s+(?:"([^"]*)"|'([^']*)'|([^#\n]*[^#\s]))/gm);
  return [...new Set(Array.from(names, ([, double, single, plain]) => double ?? single ?? plain ?? ''))];
}

function documentation(key: string, schema: Schema): HTMLElement {
  const box = document.createElement('div');
  box.className = 'wf-doc';
  const head = element('p', 'wf-doc-key', element('strong', '', key), ` ${typeText(schema)}`);
  // Every second part is in backticks.
  const parts = (schema.description ?? '').split('`');
  const about = parts.map((part, index) => (index % 2 === 1 ? element('code', '', part) : part));
  box.append(head, element('p', '', ...about));
  if (schema.default !== undefined)
    box.append(element('p', '', 'Default: ', element('code', '', String(schema.default))));
  const [example] = schema.examples ?? [];
  if (example !== undefined) {
    const text = typeof example === 'string' ? example : JSON.stringify(example);
    box.append(element('p', '', 'Example: ', element('code', '', text)));
  }
  return box;
}

function element(name: string, className: string, ...children: readonly (string | HTMLElement)[]): HTMLElement {
  const made = document.createElement(name);
  if (className !== '') made.className = className;
  made.append(...children);
  return made;
}

/** A key that a map may have. */
type FileKey = { readonly key: string; readonly schema: Schema; readonly isRequired: boolean };

/** Returns the schema of the value at a path; null if the schema does not describe it. */
export function schemaAt(root: Schema, path: readonly PathStep[]): Schema | null {
  let schema: Schema | null = root;
  for (const { key, beside } of path) {
    if (schema === null) return null;
    schema = key === null ? (schema.items ?? null) : valueSchema(root, schema, { key, beside });
    schema = schema === null ? null : resolved(root, schema);
  }
  return schema;
}

/** Returns the keys that can be added to a map of the schema, without aliases and keys of Dagu 2. */
export function keysOf(root: Schema, schema: Schema, present: ReadonlyMap<string, string>): readonly FileKey[] {
  const taken = new Set(Array.from(present.keys(), canonicalKey));
  return Object.entries(schema.properties ?? {}).flatMap(([key, part]) => {
    const own = resolved(root, part);
    if (!isOffered(own) || taken.has(canonicalKey(key))) return [];
    return [{ key, schema: own, isRequired: schema.required?.includes(key) === true }];
  });
}

/** Returns the suggested values of a text: those of its enumeration, or its examples. */
export function wordsOf({ enum: words, allOf = [], type, examples = [] }: Schema): readonly string[] {
  const ofText = words ?? allOf.find((part) => part.if?.type === 'string')?.then?.enum;
  if (ofText !== undefined) return ofText.map(String);
  if ([type].flat().includes('boolean')) return ['true', 'false'];
  return examples.flatMap((example) => {
    if (typeof example === 'number') return [String(example)];
    return typeof example === 'string' && !example.includes('\n') ? [quotedIfNeeded(example)] : [];
  });
}

function valueSchema(root: Schema, schema: Schema, { key, beside }: PathStep): Schema | null {
  const wanted = canonicalKey(key ?? '');
  const holders = [...implied(schema, beside), schema];
  for (const { properties = {} } of holders) {
    const found = Object.entries(properties).find(([name]) => canonicalKey(name) === wanted)?.[1];
    if (found !== undefined) return resolved(root, found);
  }
  return typeof schema.additionalProperties === 'object' ? schema.additionalProperties : null;
}

/** The schema of a map with these values: the settings of the executor named by `type`. */
function implied({ allOf = [] }: Schema, beside: ReadonlyMap<string, string>): readonly Schema[] {
  return allOf.flatMap(({ if: condition, then }) => {
    const wanted = Object.entries(condition?.properties ?? {});
    const isMet = wanted.length > 0 && wanted.every(([key, { const: value }]) => beside.get(key) === value);
    return isMet && then !== undefined ? [then] : [];
  });
}

function resolved(root: Schema, { $ref, ...own }: Schema): Schema {
  if ($ref === undefined) return own;
  const [, ...keys] = $ref.split('/');
  const target = keys.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], root);
  return { ...resolved(root, target as Schema), ...own };
}

function quotedIfNeeded(text: string): string {
  const isPlain = /^[\w$./~-][^:#]*$/.test(text) && !/^(?:[\d.+-]+|true|false|null|yes|no|on|off|-.*)$/i.test(text);
  return isPlain && text.trim() === text ? text : `'${text.replaceAll("'", "''")}'`;
}
