import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { loadWorkflow } from '#language/load.ts';
import { temporaryDirectory } from '../attempt.ts';

const guides = ['http', 'webhook', 'jq'].flatMap((name) => {
  const text = readFileSync(resolve(import.meta.dirname, '../../../docs/guide', `${name}.md`), 'utf8');
  return [...text.matchAll(/```yaml\n([\s\S]*?)```/g)].map(([, yaml = ''], i) => [name, i + 1, yaml] as const);
});

test.each(guides)('the guide to %s: workflow %i is valid', (_name, _number, yaml) => {
  const file = join(temporaryDirectory(), 'workflow.yaml');
  writeFileSync(file, yaml);
  expect(loadWorkflow({ file }).diagnostics).toEqual([]);
});
