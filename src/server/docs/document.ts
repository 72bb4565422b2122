import type { JsonObject } from '#core/workflow.ts';
import document from '../generated/openapi.json' with { type: 'json' };

/** A JSON Schema of draft 2020-12, as in OpenAPI 3.1. */
export type ApiSchema = JsonObject;

/** An OpenAPI 3.1 document. */
export type OpenApiDocument = JsonObject & {
  readonly info: JsonObject & { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: { readonly [path: string]: { readonly [method: string]: JsonObject } };
  readonly components: JsonObject & { readonly schemas: { readonly [name: string]: ApiSchema } };
};

/** Returns the description of all routes. `basePath` begins with a slash and ends without one, or is empty. */
export function openApiDocument(basePath: string): OpenApiDocument {
  return { ...(document as OpenApiDocument), servers: [{ url: basePath === '' ? '/' : basePath }] };
}
