import type { MapEntry, MapNode, Node } from '../read/node.ts';
import { canonicalKey } from '../schema/schema-type.ts';
import { entry, type Field, Fields, list, map, type Report, scalar, textIn, withTextsOf } from './form-nodes.ts';

/** What the steps under `foreach` may use of their document. */
export type Surroundings = {
  readonly report: Report;
  /** The top level of the document, as written. */
  readonly top: Fields;
  /** The name of the document; empty for the first of a file. */
  readonly name: string;
  /** The names of its parameters and of the variables that its steps write. */
  readonly variables: ReadonlySet<string>;
  /** Those of the parameters that are declared as secrets. */
  readonly secrets: ReadonlySet<string>;
  /** The names and ids of its steps. */
  readonly steps: ReadonlySet<string>;
};

/** A step with items that runs a document, and this document, in the form of the file. */
type Loop = { readonly entries: readonly MapEntry[]; readonly document: MapNode };

/** Keys of the top level that hold for the steps of all documents of a loop. */
const SHARED =
  'env dotenv secrets shell shellargs workingdir container registryauths defaults logoutput consts actions smtp maxoutputsize'.split(
    ' ',
  );
const KEYS = 'items, as, key, max_concurrent, steps, collect';
const AS = /^(?!(?:index|key)$)[A-Za-z][A-Za-z0-9_]*$/;
/** Other keys by which a step says what it does. */
const OTHERS = ['run', 'action', 'with', 'command', 'script', 'executor', 'call', 'exec', 'type', 'parallel', 'matrix'];
const PREFIX = 'foreach_';

/**
 * Reads a step with `foreach: {items, as, key, max_concurrent, steps, collect}` as a step with items that runs a document of
 * these steps. The item, its index and what the steps use of their surroundings are parameters of that document.
 */
export function readLoop(foreach: Field, step: Fields, around: Surroundings): Loop | null {
  const { report } = around;
  const { key: at, value } = foreach;
  const wrong = (node: Node, message: string, help: string | null = null) => {
    report('wrong-value', node, message, { help });
    return null;
  };
  const id = textIn(step.get('name')?.value) ?? textIn(step.get('id')?.value);
  if (value.kind !== 'map') return wrong(value, '"foreach" must be a map', `Its keys: ${KEYS}.`);
  if (id === null) return wrong(at, 'a step with "foreach" needs an "id"');
  for (const name of OTHERS) {
    const other = step.take(name);
    if (other === null) continue;
    const message = `step "${id}" has both "foreach" and "${textIn(other.key)}"`;
    report('conflicting-keys', other.key, message, { help: 'Write it in a step under "foreach".' });
  }
  const fields = new Fields(value.entries);
  const [items, as, itemKey, most] = ['items', 'as', 'key', 'maxconcurrent'].map((name) => fields.take(name));
  const [steps, collect] = [fields.take('steps'), fields.take('collect')];
  for (const other of fields.rest) {
    const label = `unknown key "${textIn(other.key)}" in "foreach"`;
    report('unknown-key', other.key ?? value, label, { help: `Its keys: ${KEYS}.` });
  }
  if (items == null) return wrong(at, '"foreach" needs "items"');
  const body = steps?.value.kind === 'list' ? steps.value.items : [];
  if (steps == null || body.length === 0) return wrong(steps?.value ?? at, '"foreach" needs "steps", a list');
  const item = textIn(as?.value) ?? 'item';
  if (!AS.test(item)) return wrong(as?.value ?? at, `"${item}" is not the name of an item`);
  const used = new Map<string, string>([
    [`${PREFIX}${item}`, '${ITEM}'],
    [`${PREFIX}index`, '${WF_ITEM_INDEX}'],
    [`${PREFIX}key`, keyOfItem(textIn(itemKey?.value), item)],
  ]);
  const own = bodyNames(body);
  const collecting = collect === null ? [] : [collector(collect, body, own, report)];
  const read = resolved(list([...body, ...collecting], steps.value), { item, used, own, around, shadowed: new Set() });
  const shared = SHARED.flatMap((name) => around.top.get(name) ?? []);
  for (const name of mentioned([read, ...shared.map((field) => field.value)])) {
    if (around.variables.has(name) && !own.outputs.has(name)) used.set(name, `\${${name}}`);
  }
  const name = `${around.name === '' ? '' : `${around.name}.`}foreach.${id}`;
  const params = [...used].map(([param, text]) => ({ key: scalar(param, at), value: scalar(text, at) }));
  const declared = params.map(({ key }) => {
    if (!around.secrets.has(textIn(key) ?? '')) return map([{ key, value: scalar('', at) }], at);
    return map([entry('name', at, key), entry('secret', at, scalar('true', at))], at);
  });
  const document = map(
    [
      entry('name', at, scalar(name, at)),
      entry('params', at, list(declared, at)),
      ...shared.map(asEntry),
      entry('steps', steps.key, read),
    ],
    value,
  );
  // No items in the file are as good as none at the start of the step.
  const given = items.value.kind === 'list' && items.value.items.length === 0 ? scalar('[]', items.value) : items.value;
  const limit = most == null ? [] : [entry('maxConcurrent', most.key, most.value)];
  const entries = [
    entry('run', at, scalar(name, at)),
    entry('parallel', items.key, map([entry('items', items.key, given), ...limit], items.value)),
    entry('params', at, map(params, at)),
  ];
  return { entries, document };
}

function asEntry({ key, value }: Field): MapEntry {
  return { key, value };
}

/** The key of an item as a text with variables of the instance. */
function keyOfItem(key: string | null, item: string): string {
  if (key === null) return '${WF_ITEM_INDEX}';
  return key.replaceAll(/\$\{foreach\.(\w+)/g, (written, name: string) => {
    return name === item ? '${ITEM' : name === 'index' ? '${WF_ITEM_INDEX' : written;
  });
}

/** What the steps of a body define. */
type BodyNames = { readonly steps: ReadonlySet<string>; readonly outputs: ReadonlySet<string> };

function bodyNames(body: readonly Node[]): BodyNames {
  const maps = body.flatMap((step) => (step.kind === 'map' ? [new Fields(step.entries)] : []));
  const texts = (name: string) => maps.flatMap((fields) => textIn(fields.get(name)?.value) ?? []);
  return {
    steps: new Set([...texts('name'), ...texts('id')]),
    outputs: new Set(texts('output').map((text) => text.replace(/^\$?\{?|\}$/g, ''))),
  };
}

/** A step after all others, which publishes the collected values. */
function collector(collect: Field, body: readonly Node[], own: BodyNames, report: Report): MapNode {
  const { key: at, value } = collect;
  if (value.kind !== 'map') report('wrong-type', value, '"collect" must be a map of names and texts');
  const names = body.flatMap((step, index) => {
    const fields = new Fields(step.kind === 'map' ? step.entries : []);
    const name = textIn(fields.get('name')?.value) ?? textIn(fields.get('id')?.value);
    if (name === null) report('missing-key', step, `step ${index + 1} under "foreach" needs an "id" beside "collect"`);
    return name === null ? [] : [scalar(name, at)];
  });
  let id = 'collect';
  while (own.steps.has(id)) id += '_';
  return map([entry('id', at, scalar(id, at)), entry('depends', at, list(names, at)), entry('output', at, value)], at);
}

type Body = {
  readonly item: string;
  /** The parameters of the document and their values, which grow with the texts read. */
  readonly used: Map<string, string>;
  readonly own: BodyNames;
  readonly around: Surroundings;
  /** Names that belong to a `foreach` within the body. */
  readonly shadowed: ReadonlySet<string>;
};

/** The tree with parameters of its document in place of the item and of results of steps around it. */
function resolved(root: Node, body: Body): Node {
  const change = (text: string, node: Node) => inBody(text, node, body);
  return withTextsOf(root, change, (inner) => {
    const fields = new Fields(inner.entries);
    if (fields.get('items') === null || fields.get('steps') === null) return null;
    const names = [textIn(fields.get('as')?.value) ?? 'item', 'index', 'key'];
    const within = { ...body, shadowed: new Set([...body.shadowed, ...names]) };
    const entries = inner.entries.map(({ key, value }): MapEntry => {
      const isOuter = canonicalKey(textIn(key) ?? '') === 'items';
      return { key, value: value === null ? null : resolved(value, isOuter ? body : within) };
    });
    return { ...inner, entries };
  });
}

/** `${foreach...}`, and references to results of steps. */
const REFERENCE = /\\\$|\$\{(foreach\.|steps\.)?([A-Za-z_][\w-]*)([.[][^{}:]*)?(?=\}|:-)/g;

function inBody(text: string, node: Node, { item, used, own, around, shadowed }: Body): string {
  if (!text.includes('${')) return text;
  return text.replaceAll(REFERENCE, (written: string, scope?: string, name = '', rest = '') => {
    if (scope === 'foreach.') {
      if (shadowed.has(name)) return written;
      if (name === item || name === 'index' || name === 'key') return `\${env.${PREFIX}${name}${rest}`;
      const help = `Known are ${item}, index and key.`;
      around.report('wrong-value', node, `"foreach" has no "${name}" here`, { help });
      return written;
    }
    // `${X.y}` of a variable is a part of its JSON.
    if (rest === '' || own.steps.has(name) || !around.steps.has(name)) return written;
    const param = `${name}${rest}`.replaceAll(/[^A-Za-z0-9_]/g, '_');
    used.set(param, `\${${scope ?? ''}${name}${rest}}`);
    return `\${env.${param}`;
  });
}

/** The names of variables in the texts of trees. */
function mentioned(roots: readonly Node[]): ReadonlySet<string> {
  const found = new Set<string>();
  for (const root of roots) {
    withTextsOf(root, (text) => {
      for (const [, name = ''] of text.matchAll(/\$\{?(?:params\.|env\.)?([A-Za-z_]\w*)/g)) found.add(name);
      return text;
    });
  }
  return found;
}

/** What the steps under `foreach` may use of the document that contains these `steps`. */
export function surroundingsOf(top: Fields, steps: readonly MapNode[], report: Report, name: string): Surroundings {
  const names = bodyNames(steps);
  const params = top.get('params')?.value;
  const variables = new Set([...paramsIn(params).map((param) => param.name), ...names.outputs]);
  const secrets = new Set(paramsIn(params).flatMap((param) => (param.isSecret ? [param.name] : [])));
  return { report, top, name, variables, secrets, steps: names.steps };
}

/** The names of parameters, declared in any way. */
function paramsIn(node: Node | undefined): readonly { readonly name: string; readonly isSecret: boolean }[] {
  const plain = (name: string) => ({ name, isSecret: false });
  if (node === undefined) return [];
  if (node.kind === 'list') return node.items.flatMap(paramsIn);
  if (node.kind !== 'map') {
    return [...(textIn(node) ?? '').matchAll(/(?:^|\s)([A-Za-z_]\w*)=/g)].map(([, name = '']) => plain(name));
  }
  const fields = new Fields(node.entries);
  const properties = fields.get('properties')?.value;
  if (properties?.kind === 'map') return properties.entries.flatMap(({ key }) => plain(textIn(key) ?? ''));
  const name = textIn(fields.get('name')?.value);
  if (name !== null) return [{ name, isSecret: textIn(fields.get('secret')?.value) === 'true' }];
  return node.entries.map(({ key }) => plain(textIn(key) ?? ''));
}
