import type { Json, JsonObject } from '../../core/workflow.ts';
import type { Route } from '../route.ts';

/** A JSON Schema of draft 2020-12, as in OpenAPI 3.1. */
export type Schema = JsonObject;

/** A parameter of a route, in the path (always required), the query or a header. */
export type Parameter = {
  readonly name: string;
  readonly in: 'path' | 'query' | 'header';
  readonly description: string;
  readonly schema: Schema;
  readonly example?: Json;
};

/** A body in one media type. */
export type Content = { readonly schema: Schema; readonly example?: Json };

/** One response of a route; without `content` there is no body. */
export type Answer = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** By media type. */
  readonly content?: Readonly<Record<string, Content>>;
};

/** The description of a route in the OpenAPI document, without the data that follows from the route itself. */
export type Operation = {
  readonly id: string;
  readonly tag: 'Workflows' | 'Runs' | 'Logs and events' | 'Daemon' | 'Version 1';
  readonly summary: string;
  readonly description?: string;
  readonly parameters?: readonly Parameter[];
  /** The body; its media types follow from the route. */
  readonly body?: Content & { readonly description: string; readonly isRequired: boolean };
  readonly answers: Readonly<Record<string, Answer>>;
  /** The errors that are specific to this route, by status. */
  readonly problems?: Readonly<Record<string, string>>;
};

/** A route with its description; every served route has one. */
export type DescribedRoute = Route & { readonly operation: Operation };

/** Returns a reference to a named schema of the document. */
export function ref(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

/** Creates a response in JSON. */
export function json(description: string, schema: Schema, example?: Json): Answer {
  return { description, content: { 'application/json': example === undefined ? { schema } : { schema, example } } };
}
