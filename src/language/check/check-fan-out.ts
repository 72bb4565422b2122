import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { MAX_ITEMS } from '#core/fan-out/items.ts';
import { combinations, rawFanOut } from '../build/build-policies.ts';
import { type Path, type Problem, problem } from '../diagnostic.ts';
import { asList, isJsonObject, type RawFanOut, type RawMatrix } from '../raw.ts';
import { type StepEntry, spotIn } from '../read/spec-file.ts';

/** The name of an axis, as `${ITEM.axis}` can have it. */
const AXIS = /^[A-Za-z0-9_-]+$/;
/** More combinations than this are not made to be counted. */
const MOST_COMBINATIONS = 100_000;

/** The keys of `parallel` that give items. */
const SOURCES = ['items', 'matrix', 'glob', 'lines'] as const;
/** A literal path with a wildcard. */
const PATTERN = /^(?=.*[*?])(?=.*[./])[^$`"'{}[\]\s]+$/;

/** Checks `parallel` and `matrix` of all steps. */
export function fanOutProblems(entries: readonly StepEntry[]): Problem[] {
  return [...entries.flatMap(itemsProblems), ...nameProblems(entries)];
}

function itemsProblems({ file, path, raw, name }: StepEntry): Problem[] {
  const what = `step "${name ?? Number(path[1]) + 1}"`;
  const { parallel, matrix } = raw;
  const wrong = (code: 'wrong-value' | 'missing-key' | 'conflicting-keys', at: Path, message: string, help: string) => [
    problem(code, spotIn(file, [...path, ...at]), `${what}${message}`, { help }),
  ];
  if (parallel !== undefined && matrix !== undefined) {
    const help = 'Write "parallel: {matrix: ...}".';
    return wrong('conflicting-keys', ['matrix'], ' has both "parallel" and "matrix"', help);
  }
  const fanOut = rawFanOut(raw);
  if (fanOut !== null && 'service' in raw) {
    return wrong('conflicting-keys', ['service'], ' has items and "service"', 'Use a separate step for it.');
  }
  if (fanOut === null || file.damaged.has(raw) || file.damaged.has(parallel)) return [];
  const isMap = typeof parallel === 'object' && !Array.isArray(parallel);
  const [source, other] = SOURCES.filter((key) => fanOut[key] !== undefined);
  if (source === undefined) {
    const help = 'Give it "items", "matrix", "glob" or "lines".';
    return wrong('missing-key', ['parallel'], ': "parallel" has no items', help);
  }
  if (other !== undefined) {
    return wrong('conflicting-keys', ['parallel', other], ` has both "${source}" and "${other}"`, 'Write one of them.');
  }
  const at: Path = isMap ? ['parallel', source] : [parallel === undefined ? 'matrix' : 'parallel'];
  const axis = Object.keys(fanOut.matrix ?? {}).find((key) => !AXIS.test(key));
  if (axis !== undefined) {
    const help = 'A name has only letters, digits, "_" and "-".';
    const spot = spotIn(file, [...path, ...at, axis], 'key');
    return [problem('invalid-name', spot, `"${axis}" is not the name of an axis`, { help })];
  }
  const count = countOf(fanOut);
  if (count === 0)
    return wrong('wrong-value', at, ' has no items', 'List at least one item, or give it a text that is evaluated.');
  const spot = spotIn(file, [...path, ...at]);
  if (count === null || count <= MAX_ITEMS) {
    return [...mapWithoutParams(spot, raw, fanOut.items), ...patternAsText(spot, what, fanOut.items)];
  }
  return wrong('wrong-value', at, ` has ${count} items`, `A step takes at most ${MAX_ITEMS}.`);
}

/** Warns about a map of the file that another workflow gets as one text. */
function mapWithoutParams(
  spot: Parameters<typeof problem>[1],
  { run, params }: StepEntry['raw'],
  items: RawFanOut['items'],
): Problem[] {
  if (run === undefined || params !== undefined || typeof items === 'string') return [];
  if (items?.some(isJsonObject) !== true) return [];
  const help = 'To pass the fields as parameters, write: params: {json: $ITEM}';
  return [problem('map-as-text', spot, 'each map is passed as one text', { severity: 'warning', help })];
}

/** Warns about an item of the file that looks like a pattern of paths. */
function patternAsText(spot: Parameters<typeof problem>[1], what: string, items: RawFanOut['items']): Problem[] {
  const texts = typeof items === 'string' ? items.split(/[\s,]+/) : (items ?? []);
  const pattern = texts.find((text) => typeof text === 'string' && PATTERN.test(text) && !text.includes('://'));
  if (pattern === undefined) return [];
  const message = `${what}: "${String(pattern)}" is one item, not the files that match it`;
  const help = `To run for each file, write: parallel: {glob: ${JSON.stringify(pattern)}}`;
  return [problem('pattern-as-text', spot, message, { severity: 'warning', help })];
}

/** Null if the number of items is known only at run time. */
function countOf({ items, matrix, glob, lines }: NonNullable<ReturnType<typeof rawFanOut>>): number | null {
  if (asList(glob ?? lines ?? 'x').every((text) => text.trim() === '')) return 0;
  if (typeof items === 'string') return items.trim() === '' ? 0 : null;
  if (items !== undefined) return items.length;
  if (matrix === undefined) return null;
  const size = sizeOf(matrix);
  return size > MOST_COMBINATIONS ? size : combinations(matrix).length;
}

/** The number of combinations of the axes, without building them. */
function sizeOf({ exclude, include, ...axes }: RawMatrix): number {
  return Object.values(axes).reduce((size, values) => size * values.length, 1);
}

/** Reports steps with the name of an instance of another one, which would be ambiguous. */
function nameProblems(entries: readonly StepEntry[]): Problem[] {
  const fanOuts = new Set(entries.flatMap(({ raw, name }) => (rawFanOut(raw) === null ? [] : [name])));
  return entries.flatMap((entry) => {
    const instance = splitInstanceName(entry.name ?? '');
    if (instance === null || !fanOuts.has(instance.step)) return [];
    const message = `"${entry.name}" is the name of an item of step "${instance.step}"`;
    const spot = spotIn(entry.file, [...entry.path, entry.raw.name === undefined ? 'id' : 'name']);
    return [problem('reserved-name', spot, message, { help: 'Choose another name.' })];
  });
}
