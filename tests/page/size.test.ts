import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';

const page = join(import.meta.dirname, '../../dist/page');
const index = readFileSync(join(page, 'index.html'), 'utf8');
const assets = readdirSync(join(page, 'assets')).filter((name) => /[.](?:js|css)$/.test(name));

/** Files of the page that this text names. */
function namedIn(text: string): readonly string[] {
  return assets.filter((name) => text.includes(name));
}

/** Files that another one imports at once, and the worker that it starts. */
function importedBy(text: string): readonly string[] {
  const lazily = new Set([...text.matchAll(/import\([`"']\.\/([^`"']+)/g)].map(([, name]) => name ?? ''));
  const listed = /__vite__mapDeps=.*?\]\)/s.exec(text)?.[0] ?? '';
  return namedIn(text.replace(listed, '')).filter((name) => !lazily.has(name));
}

/** Files loaded with a file of the page, including itself and what it starts, without those in `known`. */
function loadedWith(name: string, known: ReadonlySet<string>): ReadonlySet<string> {
  const loaded = new Set<string>();
  const add = (file: string) => {
    if (known.has(file) || loaded.has(file)) return;
    loaded.add(file);
    for (const other of importedBy(readFileSync(join(page, 'assets', file), 'utf8'))) add(other);
  };
  add(name);
  return loaded;
}

function sizeOf(names: Iterable<string>): number {
  return Array.from(names, (name) => readFileSync(join(page, 'assets', `${name}.gz`)).length).reduce(
    (a, b) => a + b,
    0,
  );
}

function chunk(name: string): string {
  const found = assets.find((file) => new RegExp(`^${name}-[\\w-]{8}[.]js$`).test(file));
  if (found === undefined) throw new Error(`the page has no chunk "${name}"`);
  return found;
}

const firstLoad = new Set(namedIn(index));

test('the first load of the page takes at most 40 kB', () => {
  const size = sizeOf(firstLoad) + gzipSync(index).length;

  expect([...firstLoad].filter((name) => name.endsWith('.css')).length).toBe(1);
  expect(size).toBeGreaterThan(5000);
  expect(size).toBeLessThan(40_000);
});

/** Parts of a run that are loaded on demand. */
const onDemand = [
  'attempt-logs',
  'fan-out-box',
  'run-comparison',
  'run-details',
  'run-failures',
  'run-menus',
  'run-steps',
  'run-timeline',
].map(chunk);
const run = loadedWith(chunk('run'), new Set([...firstLoad, ...onDemand]));

test('a run takes at most 22 kB more, with the worker that lays out its graph', () => {
  expect([...run].some((name) => name.startsWith('worker-'))).toBe(true);
  expect(sizeOf(run)).toBeLessThan(22_000);
});

test.each(onDemand)('%s takes at most 8 kB more, the log viewer 11 kB', (part) => {
  const limit = part.startsWith('attempt-logs') ? 11_000 : 8000;
  expect(sizeOf(loadedWith(part, new Set([...firstLoad, ...run])))).toBeLessThan(limit);
});

test.each(['runs', 'start', 'system', 'workflow'])('the screen "%s" takes at most 12 kB more', (name) => {
  expect(sizeOf(loadedWith(chunk(name), firstLoad))).toBeLessThan(12_000);
});

test('the editor takes at most 145 kB more; its schema and its diff view are loaded on demand', () => {
  const workflow = loadedWith(chunk('workflow'), firstLoad);

  expect(sizeOf(loadedWith(chunk('editor-pane'), new Set([...firstLoad, ...workflow])))).toBeLessThan(145_000);
  // The documentation of all keys of the workflow file, with what mails and notifications attach, and the results that steps restore.
  expect(sizeOf([chunk('workflow[.]schema')])).toBeLessThan(20_100);
  for (const name of ['schema-help', 'comparison']) expect(sizeOf([chunk(name)])).toBeLessThan(13_000);
});
