import type { Json, JsonObject } from '#core/workflow.ts';
import { IGNORED } from '../diagnostic.ts';
import { compileSchema, schemaProblem } from '../json-schema.ts';
import { isJsonObject } from '../raw.ts';
import type { MapEntry, MapNode, Node } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { type Field, Fields, jsonOf, list, map, type Report, scalar, textIn, withTextsOf } from './form-nodes.ts';

/** An action that the file defines: the schema of its input, and the entries of a step. */
type CustomAction = { readonly schema: JsonObject; readonly template: MapNode };
/** Those of a document, by name. */
export type CustomActions = ReadonlyMap<string, CustomAction>;

const NAME = /^[A-Za-z][A-Za-z0-9_-]*(?:\.[A-Za-z][A-Za-z0-9_-]*)*$/;
const KEYS = 'description, input_schema, output_schema, template';

/** Reads `actions`, a map of names to `{input_schema, template}`. Invalid ones are reported and left out. */
export function readCustomActions(field: Field | null, report: Report): CustomActions {
  const found = new Map<string, CustomAction>();
  if (field === null) return found;
  if (field.value.kind !== 'map') report('wrong-type', field.value, '"actions" must be a map of names and definitions');
  for (const { key, value } of field.value.kind === 'map' ? field.value.entries : []) {
    const name = textIn(key) ?? '';
    const at = key ?? field.key;
    if (!NAME.test(name)) report('invalid-name', at, `"${name}" is not the name of an action`);
    const custom = definitionOf(name, at, value, report);
    if (custom !== null) found.set(name, custom);
  }
  return found;
}

function definitionOf(name: string, at: Node, value: Node | null, report: Report): CustomAction | null {
  const what = `the action "${name}"`;
  if (value?.kind !== 'map') return missing(`${what} must be a map`);
  const fields = new Fields(value.entries);
  fields.take('description');
  const outputs = fields.take('outputschema');
  if (outputs !== null) {
    report('ignored-key', outputs.key, `"output_schema" of ${what} is not checked`, IGNORED);
  }
  const [input, template] = [fields.take('inputschema')?.value, fields.take('template')?.value];
  for (const other of fields.rest) {
    const message = `unknown key "${textIn(other.key)}" in ${what}`;
    report('unknown-key', other.key ?? at, message, { help: `Its keys: ${KEYS}.` });
  }
  if (input?.kind !== 'map') return missing(`${what} needs "input_schema", a map`);
  if (template?.kind !== 'map') return missing(`${what} needs "template", a map`);
  const work = new Fields(template.entries);
  if ((work.get('run') === null) === (work.get('action') === null)) {
    return missing(`the "template" of ${what} needs either "run" or "action"`);
  }
  const schema = jsonOf(input) as JsonObject;
  const reason = schemaProblem(schema);
  if (reason !== null) return missing(`the "input_schema" of ${what} is not valid: it ${reason.message}`);
  return { schema, template };

  function missing(message: string): null {
    report('missing-key', at, message);
    return null;
  }
}

/** The entries of a step for an action of the file, in which the input is put. */
export function expanded(
  name: string,
  { schema, template }: CustomAction,
  at: Node,
  settings: Field | null,
  report: Report,
): readonly MapEntry[] {
  const given = settings?.value.kind === 'map' ? jsonOf(settings.value) : {};
  const input = { ...defaultsOf(schema), ...(given as JsonObject) };
  for (const { path, message } of compileSchema(schema)(input)) {
    const value = path.reduce<Json | undefined>(
      (found, part) => (isJsonObject(found) ? found[part] : undefined),
      input,
    );
    // The value is known only when the step starts.
    if (typeof value === 'string' && /[$`]/.test(value)) continue;
    const spot = nodeAt(settings?.value ?? null, path) ?? settings?.key ?? at;
    report('wrong-value', spot, `the action "${name}": ${['"with"', ...path].join('.')} ${message}`);
  }
  return put(template, input, name, report).entries;
}

function defaultsOf(schema: JsonObject): JsonObject {
  const properties = isJsonObject(schema['properties']) ? schema['properties'] : {};
  return Object.fromEntries(
    Object.entries(properties).flatMap(([key, rule]): [string, Json][] =>
      isJsonObject(rule) && rule['default'] !== undefined ? [[key, rule['default']]] : [],
    ),
  );
}

function nodeAt(root: Node | null, path: readonly string[]): Node | null {
  const [part, ...rest] = path;
  if (part === undefined || root?.kind !== 'map') return root;
  const value = root.entries.find(({ key }) => textIn(key) === part)?.value;
  return value == null ? root : nodeAt(value, rest);
}

const EXPRESSION = /\{\{-?\s*(.*?)\s*-?\}\}/gs;
const INPUT = /^(json\s+)?\.input((?:\.\w+)+)$/;

/** The template with the input: a text that is only one expression becomes its value, with its type. */
function put(template: MapNode, input: JsonObject, name: string, report: Report): MapNode {
  const inputOf = (expression: string, node: Node): { readonly value: Json; readonly isJson: boolean } | null => {
    const [, json, path] = INPUT.exec(expression) ?? [];
    const value = path
      ?.slice(1)
      .split('.')
      .reduce<Json | undefined>((found, part) => (isJsonObject(found) ? found[part] : undefined), input);
    if (path !== undefined) return { value: value ?? '', isJson: json !== undefined };
    const help = 'Known are {{ .input.name }} and {{ json .input.name }}.';
    report('not-supported', node, `"{{ ${expression} }}" in the template of "${name}" is not supported`, { help });
    return null;
  };
  const text = (value: Json, isJson: boolean) => (isJson || typeof value !== 'string' ? JSON.stringify(value) : value);
  const read = (node: Node): Node => {
    const [only] = [...(textIn(node) ?? '').trim().matchAll(EXPRESSION)];
    if (only === undefined || only[0] !== textIn(node)?.trim()) return node;
    const found = inputOf(only[1] ?? '', node);
    return found === null || found.isJson || typeof found.value === 'string' ? node : nodeOf(found.value, node);
  };
  const typed = (node: Node): Node => {
    if (node.kind === 'list') return { ...node, items: node.items.map(typed) };
    if (node.kind !== 'map') return read(node);
    // YAML reads `{{ .input.name }}` without quotes as a map in a map.
    const [inner] = node.entries;
    const bare = inner?.key?.kind === 'map' && inner.value === null ? textIn(inner.key.entries[0]?.key) : null;
    if (bare !== null && node.entries.length === 1) return read(scalar(`{{ ${bare} }}`, node));
    return {
      ...node,
      entries: node.entries.map(({ key, value }) => ({ key, value: value === null ? null : typed(value) })),
    };
  };
  const change = (written: string, node: Node) =>
    written.replaceAll(EXPRESSION, (_, expression: string) => {
      const found = inputOf(expression, node);
      return found === null ? '' : text(found.value, found.isJson);
    });
  return withTextsOf(typed(template), change) as MapNode;
}

/** A value as a node, at the position of another one. */
function nodeOf(value: Json, at: Node): Node {
  if (Array.isArray(value))
    return list(
      value.map((item) => nodeOf(item, at)),
      at,
    );
  if (isJsonObject(value)) {
    return map(
      Object.entries(value).map(([key, item]) => ({ key: scalar(key, at), value: nodeOf(item, at) })),
      at,
    );
  }
  return { ...scalar(String(value ?? ''), at), value, isPlain: true };
}

/** The entries of a step, of which its own replace those of the template. */
export function mergedStep(own: readonly MapEntry[], template: readonly MapEntry[]): readonly MapEntry[] {
  const names = new Set(own.map(({ key }) => canonicalKey(textIn(key) ?? '')));
  return [...own, ...template.filter(({ key }) => !names.has(canonicalKey(textIn(key) ?? '')))];
}
