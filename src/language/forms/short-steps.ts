import type { Json } from '#core/workflow.ts';
import { isDeclarationKey } from '../declared-params.ts';
import { isJsonObject, type RawStep } from '../raw.ts';
import type { MapEntry, Node, YamlDocument } from '../read/node.ts';
import { Fields, list, map, scalar, textIn } from './form-nodes.ts';

/** Replaces steps and handlers that are only a text by those with this `command`. `value`, a file as read, is changed. */
export function readShortSteps(value: Json): void {
  if (!isJsonObject(value)) return;
  for (const part of [value.steps, value.handlerOn]) {
    if (typeof part !== 'object' || part === null) continue;
    const map = part as Record<string, Json>;
    for (const key in map) if (typeof map[key] === 'string') map[key] = { command: map[key] };
  }
}

/** A document whose parameters of the form `NAME: {eval: TEXT}` are declarations with a `name`; itself if it has none. */
export function withDeclaredParams(document: YamlDocument): YamlDocument {
  const { contents } = document;
  if (contents?.kind !== 'map') return document;
  const params = new Fields(contents.entries).get('params');
  if (params === null) return document;
  if (params.value.kind === 'map' && isSchema(new Fields(params.value.entries))) return document;
  const items = params.value.kind === 'list' ? params.value.items : [params.value];
  const hasDeclaration = (item: Node) => item.kind === 'map' && item.entries.some(isDeclaration);
  if (!items.some(hasDeclaration)) return document;
  const read = list(
    items.flatMap((item) =>
      item.kind === 'map' && hasDeclaration(item) ? item.entries.map((entry) => declared(entry, item)) : [item],
    ),
    params.value,
  );
  const entries = contents.entries.map((entry) => (entry.key === params.key ? { key: entry.key, value: read } : entry));
  return { ...document, contents: { ...contents, entries } };
}

/** Whether the keys under `params` are those of a JSON Schema, not names. */
function isSchema(params: Fields): boolean {
  return (
    ['properties', 'schema'].some((name) => params.get(name) !== null) || textIn(params.get('type')?.value) === 'object'
  );
}

/** Whether the entry of a map declares a parameter by a map. */
function isDeclaration({ value }: MapEntry): boolean {
  return value?.kind === 'map' && value.entries.some(({ key }) => isDeclarationKey(textIn(key) ?? ''));
}

function declared(entry: MapEntry, item: Node): Node {
  const { key, value } = entry;
  if (key === null || value?.kind !== 'map' || !isDeclaration(entry)) return map([entry], item);
  return map([{ key: scalar('name', key), value: key }, ...value.entries], value);
}

/** An assignment before a command, and the folder of a program. */
const ASSIGNMENTS = /^(?:[A-Za-z_]\w*=\S*\s+)+/;
const FOLDER = /^.*\//;

/** Names for steps without one, in their order: the first word of the command, with a number if the name is taken. */
export function namesForUnnamed(steps: readonly RawStep[], taken: Iterable<string>): string[] {
  const used = new Set(taken);
  const numbers = new Map<string, number>();
  return steps.map((raw) => {
    const word = firstWord(raw);
    let name = word;
    for (let number = numbers.get(word) ?? 2; used.has(name); number++) {
      name = `${word}-${number}`;
      numbers.set(word, number + 1);
    }
    used.add(name);
    return name;
  });
}

function firstWord({ command, script, run, call, executor, approval, container }: RawStep): string {
  const type = typeof executor === 'string' ? executor : executor?.type;
  const text = [command ?? run ?? call?.function].flat()[0]?.trim() ?? '';
  const word = (/^\S+/.exec(text.replace(ASSIGNMENTS, ''))?.[0] ?? '').replace(FOLDER, '');
  const plain = word.replace(/[^\w.+-]/g, '');
  if (plain !== '' && !word.includes('$')) return plain;
  if (type !== undefined) return type;
  if (script !== undefined) return 'script';
  return container !== undefined ? 'container' : approval ? 'approval' : 'step';
}
