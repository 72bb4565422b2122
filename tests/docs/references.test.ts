import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { pages, root, textOf } from './pages.ts';

const folders = ['bench', 'bin', 'docs', 'fixtures', 'scripts', 'src', 'tests'];
const files = folders.flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => `${folder}/${name}`),
);
/** Pages that describe the code; the others name files of readers. */
const described = pages.filter((page) =>
  /^(CONTRIBUTING|docs\/(architecture|glossary|contributing|decisions))/.test(page),
);

test('the files and folders that pages about the code name exist', () => {
  const named = described.flatMap((page) => pathsIn(textOf(page)).map((path) => ({ page, path })));

  expect(named.filter(({ path }) => !exists(path))).toEqual([]);
  expect(named.length).toBeGreaterThan(250);
});

test('a file that was moved is found, and one of a build is not taken for it', () => {
  const text =
    '`src/cli/`, `core/graph.ts`, `cli/graph.ts`, `src/old/`, `dist/openapi.json`, `daemon.cjs`, `src/NAME.ts`';
  expect(pathsIn(text).filter((path) => !exists(path))).toEqual(['cli/graph.ts', 'src/old/']);
});

/** Paths in code spans: those from the project's folder, and those of sources from any folder. */
function pathsIn(text: string): readonly string[] {
  const spans = [...text.matchAll(/`([\w./-]+)`/g)].map(([, span = '']) => span);
  return spans.filter(
    (span) =>
      /^(?:src|tests|scripts|bin|docs|fixtures|bench)\/|^[\w./-]+\.tsx?$/.test(span) && !/[A-Z]{4}|^name\./.test(span),
  );
}

function exists(path: string): boolean {
  if (path.endsWith('/')) return files.some((file) => file.startsWith(path));
  return files.some((file) => file === path || file.endsWith(`/${path}`) || file.startsWith(`${path}/`));
}
