import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join, normalize } from 'node:path';

/** Figures of the sources, without generated files. */
export type Figures = {
  readonly files: number;
  readonly lines: number;
  /** Other files of the sources that the average file imports, in tenths; imports of types count. */
  readonly importsPerTenFiles: number;
  /** Files in the fullest folder. */
  readonly fullestFolder: number;
  /** Files that exactly one other file imports, in percent of all. */
  readonly singleImporterPercent: number;
  /** For each folder of `src`, how many of its files other folders import. */
  readonly doors: Readonly<Record<string, number>>;
};

/** Measures the TypeScript files of the folder `src` in `root`. */
export function measure(root: string): Figures {
  const files = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .map((file) => join('src', file))
    .filter((file) => /\.tsx?$/.test(file) && !file.split('/').includes('generated'));
  const texts = files.map((file) => readFileSync(join(root, file), 'utf8'));
  const known = new Set(files);
  const imports = files.flatMap((file, at) => importsOf(file, texts[at] ?? '', known));
  const single = [...countBy(imports, ({ to }) => to).values()].filter((importers) => importers === 1);
  return {
    files: files.length,
    lines: texts.reduce((sum, text) => sum + text.split('\n').length - 1, 0),
    importsPerTenFiles: Math.round((10 * imports.length) / files.length),
    fullestFolder: Math.max(...countBy(files, dirname).values()),
    singleImporterPercent: Math.round((100 * single.length) / files.length),
    doors: doorsOf(imports),
  };
}

type Import = { readonly from: string; readonly to: string };

/** The files of the sources that a file imports, each once: static, dynamic and of types. */
function importsOf(from: string, text: string, known: ReadonlySet<string>): Import[] {
  const named = Array.from(text.matchAll(/(?:\bfrom|\bimport\(?)\s*'([.#][^']*)'/g), ([, name = '']) =>
    name.startsWith('#') ? join('src', name.slice(1)) : normalize(join(dirname(from), name)),
  );
  return [...new Set(named)].filter((to) => known.has(to)).map((to) => ({ from, to }));
}

function doorsOf(imports: readonly Import[]): Record<string, number> {
  const inward = imports.filter(({ from, to }) => roomOf(from) !== roomOf(to) && roomOf(to) !== '');
  const doors = [...new Set(inward.map(({ to }) => to))];
  return Object.fromEntries([...countBy(doors, roomOf)].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The folder of `src` that a file is in; empty for a file beside them. */
function roomOf(file: string): string {
  const [, room = '', ...rest] = file.split('/');
  return rest.length === 0 || room === basename(file) ? '' : room;
}

function countBy<T>(values: readonly T[], keyOf: (value: T) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(keyOf(value), (counts.get(keyOf(value)) ?? 0) + 1);
  return counts;
}
