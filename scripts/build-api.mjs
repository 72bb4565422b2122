// Generates from src/server/openapi/, in src/server/generated/: openapi.json, the OpenAPI document; and requests.mjs, the
// schemas of queries and bodies with functions that check them without ajv; in src/run-view/api/generated/: schema.d.ts, the
// types of the API for the web page.
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiDocument, published } from './api-document.mjs';
import { requestSchemas, requestTypes } from './api-requests.mjs';
import { apiTypes } from './api-types.mjs';
import { errorType, writeValidators } from './standalone.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, 'src/server/generated');
const pageTarget = join(root, 'src/run-view/api/generated');

const document = apiDocument(root);
const schemas = requestSchemas(document);
const parts = Object.entries(schemas).flatMap(([id, own]) =>
  Object.entries(own).map(([part, schema]) => ({ id, part, schema, name: `${id}_${part}` })),
);
const table = (part) => {
  const own = parts.filter((each) => each.part === part);
  return `{ ${own.map(({ id, name, schema }) => `${id}: { schema: ${JSON.stringify(schema)}, isValid: ${name} }`).join(', ')} }`;
};
const types = `${errorType}${requestTypes(schemas)}
/** A schema without references; \`x-expected\` says what is valid, for messages. */
export type RequestSchema = {
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly properties?: { readonly [name: string]: RequestSchema };
  readonly additionalProperties?: boolean | RequestSchema;
  readonly items?: RequestSchema;
  readonly anyOf?: readonly RequestSchema[];
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly 'x-may-be-empty'?: true;
  readonly default?: unknown;
  readonly 'x-expected'?: string;
};
/** A part of a request. */
export type RequestCheck = { readonly schema: RequestSchema; readonly isValid: Validate };
export declare const queries: { readonly [id in keyof Queries]: RequestCheck };
export declare const bodies: { readonly [id in keyof Bodies]: RequestCheck };
`;

mkdirSync(target, { recursive: true });
mkdirSync(pageTarget, { recursive: true });
writeFileSync(join(target, 'openapi.json'), JSON.stringify(published(document)));
writeFileSync(join(pageTarget, 'schema.d.ts'), await apiTypes(published(document)));
writeFileSync(join(target, 'requests.d.mts'), types);
writeValidators(
  join(target, 'requests.mjs'),
  Object.fromEntries(parts.map(({ name, schema }) => [name, schema])),
  `export const queries = ${table('query')};\nexport const bodies = ${table('body')};\n`,
);
