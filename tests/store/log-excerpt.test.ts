import { openSync, truncateSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readLogExcerpt } from '../../src/store/files/logs/log-excerpt.ts';
import { withDirectory } from '../support/wf.ts';

function excerpt(path: string, head: number, tail: number) {
  const found = readLogExcerpt(path, { head, tail });
  return [found.size, Buffer.from(found.head).toString(), Buffer.from(found.tail).toString()];
}

it('gives a small log whole and both ends of a larger one', () =>
  withDirectory(async (directory) => {
    const path = join(directory, 'log');
    writeFileSync(path, '0123456789');

    expect(excerpt(path, 4, 6)).toEqual([10, '0123456789', '']);
    expect(excerpt(path, 4, 5)).toEqual([10, '0123', '56789']);
    expect(excerpt(path, 0, 3)).toEqual([10, '', '789']);
    expect(excerpt(path, 0, 0)).toEqual([10, '', '']);
  }));

it('finds nothing where no log is', () => {
  expect(excerpt('/nowhere/log', 4, 4)).toEqual([0, '', '']);
});

it('reads both ends of five gigabytes without the rest', () =>
  withDirectory(async (directory) => {
    const path = join(directory, 'log');
    writeFileSync(path, 'first line\n');
    const size = 5 * 1024 ** 3;
    truncateSync(path, size);
    writeSync(openSync(path, 'r+'), 'last line\n', size - 10);

    expect(excerpt(path, 11, 10)).toEqual([size, 'first line\n', 'last line\n']);
  }));
