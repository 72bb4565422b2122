import type { Json } from '#core/workflow.ts';
import { isJsonObject, type RawStep } from '../raw.ts';

/** Replaces steps and handlers that are only a text by those with this `command`. `value`, a file as read, is changed. */
export function readShortSteps(value: Json): void {
  if (!isJsonObject(value)) return;
  for (const part of [value.steps, value.handlerOn]) {
    if (typeof part !== 'object' || part === null) continue;
    const map = part as Record<string, Json>;
    for (const key in map) if (typeof map[key] === 'string') map[key] = { command: map[key] };
  }
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
