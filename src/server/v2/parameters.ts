import type { Parameter } from '../docs/operation.ts';

/** The path parameter for a workflow. */
export const workflowName: Parameter = {
  name: 'name',
  in: 'path',
  description:
    'The `id` of a workflow: the name of its file, with or without extension. Where two files share it, the group comes before it, with the slash encoded: `ops%2Fnightly`.',
  schema: { type: 'string' },
  example: 'etl',
};

/** The path parameter for a run. */
export const runId: Parameter = {
  name: 'id',
  in: 'path',
  description: 'The id of a run, a unique prefix of it, `@latest` or `@failed`.',
  schema: { type: 'string' },
  example: '@latest',
};

/** The path parameter for a step. */
export const stepName: Parameter = {
  name: 'step',
  in: 'path',
  description: 'The name of a step; a handler has the name `handlerOn.failure`.',
  schema: { type: 'string' },
  example: 'load',
};

/** The parameter for the next page of a listing. */
export const cursor: Parameter = {
  name: 'cursor',
  in: 'query',
  description: '`nextCursor` of the previous page.',
  schema: { type: 'string' },
};

/** Creates the parameter for the size of a page. */
export function limit(usual: number, most: number): Parameter {
  return {
    name: 'limit',
    in: 'query',
    description: 'The maximum number of items.',
    schema: { type: 'integer', minimum: 1, maximum: most, default: usual },
  };
}

/** Creates a boolean parameter. */
export function flag(name: string, description: string): Parameter {
  return { name, in: 'query', description, schema: { type: 'boolean', default: false } };
}

/** Creates a text parameter that filters. */
export function filter(name: string, description: string, example?: string): Parameter {
  return {
    name,
    in: 'query',
    description,
    schema: { type: 'string' },
    ...(example === undefined ? {} : { example }),
  };
}
