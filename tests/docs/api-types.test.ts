import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

type ApiTypes = { readonly apiTypes: (root: string) => Promise<string> };

const root = join(import.meta.dirname, '../..');
const { apiTypes }: ApiTypes = await import(join(root, 'scripts/api-types.mjs'));

test('the web page has the types of the published OpenAPI document', async () => {
  const file = join(root, 'src/page/api/schema.d.ts');
  const text = await apiTypes(root);

  if (process.env['WF_UPDATE_GOLDENS'] === '1') writeFileSync(file, text);
  expect(readFileSync(file, 'utf8')).toBe(text);
});
