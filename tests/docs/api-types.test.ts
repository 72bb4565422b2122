import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ApiDocument, apiDocument } from '../support/described-answers.ts';

type ApiTypes = { readonly apiTypes: (document: ApiDocument) => Promise<string> };

const { apiTypes }: ApiTypes = await import(join(import.meta.dirname, '../../scripts/api-types.mjs'));

test('the web page has types of every operation and shape of its own API only', async () => {
  const { paths, components } = apiDocument();
  const text = await apiTypes(apiDocument());

  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.values(methods).map(({ operationId }) => ({ path, operationId })),
  );
  const isOwn = (path: string) => !path.startsWith('/api/v1/');
  for (const { path, operationId } of operations) {
    expect([operationId, text.includes(`operations["${operationId}"]`)]).toEqual([operationId, isOwn(path)]);
  }
  expect(operations.filter(({ path }) => isOwn(path)).length).toBeGreaterThan(24);
  for (const name of ['RunSummary', 'WorkflowDetail', 'Problem']) {
    expect(Object.keys(components.schemas)).toContain(name);
    expect(text).toContain(`\n        ${name}: `);
  }
  expect(text).toContain('status: "queued" | "running" | ');
});
