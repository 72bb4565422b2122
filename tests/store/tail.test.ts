import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { readTail } from '../../src/store/files/logs/tail.ts';
import { temporaryDirectory } from './world.ts';

function tail(stdout: string | null, stderr: string | null, lines = 3): readonly string[] {
  const directory = temporaryDirectory();
  const paths = { stdoutPath: join(directory, 'out'), stderrPath: join(directory, 'err') };
  if (stdout !== null) writeFileSync(paths.stdoutPath, stdout);
  if (stderr !== null) writeFileSync(paths.stderrPath, stderr);
  return readTail(paths, lines);
}

test.each([
  ['the last lines of standard output alone', 'a\nb\nc\nd\n', '', ['b', 'c', 'd']],
  ['an unfinished last line', 'a\nb', null, ['a', 'b']],
  ['standard error after what fits of standard output', 'a\nb\nc\n', 'x\ny\n', ['c', 'x', 'y']],
  ['standard error alone where there is enough', 'a\n', 'w\nx\ny\nz\n', ['x', 'y', 'z']],
  ['empty lines inside, and Windows line ends', 'a\r\n\r\nb\r\n', null, ['a', '', 'b']],
  ['nothing where there is nothing', '', null, []],
])('the tail is %s', (_, stdout, stderr, expected) => {
  expect(tail(stdout, stderr)).toEqual(expected);
});

test('the tail of a large log is read from its end alone', () => {
  expect(tail(`${'x'.repeat(200_000)}\nlast\n`, null, 1)).toEqual(['last']);
  expect(tail('x'.repeat(200_000), null, 1)).toEqual(['x'.repeat(64 * 1024)]);
});
