import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { stackOf } from '#system/stack.ts';
import { withDirectory } from '../support/wf.ts';

/** An error whose stack has one frame. */
function errorAt(place: string): Error {
  return Object.assign(new Error('no'), { stack: `Error: no (/not/a/frame.cjs:1:2)\n    at f (${place})` });
}

/** Leads from column 3 of the first line to line 7, column 5 of its source. */
const map = { version: 3, sources: ['src/a.ts'], names: [], mappings: 'EAMI' };

test('positions in each form of a frame are found, whatever the path contains', async () => {
  await withDirectory(async (dir) => {
    const file = join(dir, 'a (b) c', 'program.cjs');
    mkdirSync(join(dir, 'a (b) c'));
    writeFileSync(`${file}.map`, JSON.stringify(map));
    const frames = ['f (AT)', 'async f (AT)', 'AT', 'async AT', 'new A (AT)']
      .map((frame) => `\n    at ${frame}`)
      .join('');
    const error = Object.assign(new Error('no'), { stack: `Error: no${frames.replaceAll('AT', `${file}:1:3`)}` });
    expect(stackOf(error)).toBe(`Error: no${frames.replaceAll('AT', 'src/a.ts:7:5')}`);
  });
});

test('a place that a map knows becomes that of the source', async () => {
  await withDirectory(async (dir) => {
    const file = join(dir, 'program.cjs');
    writeFileSync(`${file}.map`, JSON.stringify(map));
    expect(stackOf(errorAt(`${file}:1:3`))).toBe('Error: no (/not/a/frame.cjs:1:2)\n    at f (src/a.ts:7:5)');
  });
});

test.each([
  ['that it does not know', JSON.stringify(map), '1:1'],
  ['with a damaged map', '{', '1:3'],
  ['without a map', null, '1:3'],
])('a place %s stays', async (_, text, at) => {
  await withDirectory(async (dir) => {
    const file = join(dir, 'program.cjs');
    if (text !== null) writeFileSync(`${file}.map`, text);
    const error = errorAt(`${file}:${at}`);
    expect(stackOf(error)).toBe(error.stack);
  });
});

test('a value that is not an error, or has no stack as text, is returned as text', () => {
  expect(stackOf(Object.assign(new Error('no'), { stack: 7 }))).toBe('7');
  expect(stackOf('out of order')).toBe('out of order');
});
