import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';

/** Generates the API types for TypeScript from the published OpenAPI document. */
export async function apiTypes(root) {
  const document = JSON.parse(readFileSync(join(root, 'docs/reference/openapi.json'), 'utf8'));
  // The web page uses only the project's own API.
  const paths = entries(document.paths, (path) => !path.startsWith('/api/v1/'));
  const schemas = entries(document.components.schemas, (name) => name === 'ErrorV1' || !name.endsWith('V1'));
  const shown = withoutTexts({ ...document, paths, components: { ...document.components, schemas } });
  // A field of a request with a default may be missing.
  const nodes = await openapiTS(shown, { defaultNonNullable: false });
  return `// Generated from docs/reference/openapi.json; tests/docs/api-types.test.ts updates it.\n\n${astToString(nodes)}`;
}

function entries(object, isKept) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isKept(key)));
}

/** The document without its descriptions and examples, so that the types change only when a shape does. */
function withoutTexts(value) {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== 'object' || value === null) return value;
  const isDescribed = 'schema' in value || 'type' in value || '$ref' in value;
  const kept = Object.entries(value).filter(
    ([key, item]) =>
      !(typeof item === 'string' && /^(?:description|summary|title)$/.test(key)) &&
      !(isDescribed && /^examples?$/.test(key)),
  );
  return Object.fromEntries(kept.map(([key, item]) => [key, withoutTexts(item)]));
}
