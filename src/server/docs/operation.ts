import type { Json, JsonObject } from '../../core/workflow.ts';
import type { Route } from '../route.ts';

/** A JSON Schema of draft 2020-12, as OpenAPI 3.1 has it. */
export type Schema = JsonObject;

/** What a route takes beside its body. Those in the path are always needed. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly example?: Json;
};

/** What is sent or answered, in one media type. */
export type Content = { readonly schema: Schema; readonly example?: Json };

/** One way in which a route answers; without `content` there is no body. */
export type Answer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** By media type. */
  readonly content?: Readonly<Record<string, Content>>;
};

/** What a route is for, as the OpenAPI document tells it. What follows from the route itself is not said again here. */
export type Operation = {
  readonly id: string;
  readonly tag: 'Workflows' | 'Runs' | 'Logs and events' | 'Daemon' | 'Version 1';
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  /** The media types follow from what the route takes. */
  readonly body?: Content & { readonly description: string; readonly isRequired: boolean };
  readonly answers: Readonly<Record<string, Answer>>;
  /** By status, what goes wrong here and not with every route. */
  readonly problems?: Readonly<Record<string, string>>;
};

/** A route that the document can tell of: every route that is served is one. */
export type DescribedRoute = Route & { readonly operation: Operation };

/** A schema that the document keeps under a name. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** An answer in JSON. */
export function json(description: string, schema: Schema, example?: Json): Answer {
  return { description, content: { 'application/json': example === undefined ? { schema } : { schema, example } } };
}
