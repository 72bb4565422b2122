import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { expect, test } from 'vitest';
import { exitCodes, stopSignals } from '#cli/exit-codes.ts';

test('docs/reference lists exactly the exit codes of the program', () => {
  const page = readFileSync(resolve(import.meta.dirname, '../../docs/reference/exit-codes.md'), 'utf8');
  const ofRuns = page.slice(0, page.indexOf('\n## '));
  const told = [...ofRuns.matchAll(/^\| (\d+) \|/gm)].map(([, code]) => Number(code));
  expect(told).toEqual(
    [...new Set([...Object.values(exitCodes), ...Object.values(stopSignals)])].toSorted((a, b) => a - b),
  );
});
