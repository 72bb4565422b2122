import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { temporaryDirectory } from '../executors/attempt.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/mail.md'), 'utf8');
const examples = [...guide.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = '']) => yaml);

test.each(examples.map((yaml, i) => [i + 1, yaml] as const))('the guide: workflow %i is valid', (_number, yaml) => {
  const file = join(temporaryDirectory(), 'workflow.yaml');
  writeFileSync(file, yaml);
  expect(loadWorkflow({ file }).diagnostics).toEqual([]);
});

test('the guide has examples', () => {
  expect(examples).toHaveLength(3);
});
