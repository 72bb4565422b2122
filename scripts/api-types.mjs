import openapiTS, { astToString } from 'openapi-typescript';

/** Generates the API types of the web page, which uses only the project's own API, from the OpenAPI document. */
export async function apiTypes(document) {
  const paths = entries(document.paths, (path) => !path.startsWith('/api/v1/'));
  const schemas = entries(document.components.schemas, (name) => name === 'ErrorV1' || !name.endsWith('V1'));
  // A field of a request with a default may be missing.
  const options = { defaultNonNullable: false };
  // A copy: the generator replaces some of the references in what it is given.
  const own = structuredClone({ ...document, paths, components: { ...document.components, schemas } });
  return astToString(await openapiTS(own, options));
}

function entries(object, isKept) {
  return Object.fromEntries(Object.entries(object).filter(([key]) => isKept(key)));
}
