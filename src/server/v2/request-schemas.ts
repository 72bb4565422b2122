import { objectSchema } from '../docs/object-schema.ts';
import type { Schema } from '../docs/operation.ts';
import { paramsSchema } from './params-field.ts';

const textOrNull: Schema = { type: ['string', 'null'] };

const runId: Schema = {
  ...textOrNull,
  description: 'The id of the new run: 1 to 128 of `A-Z a-z 0-9 . _ -`. One is made where none is given.',
};

const strict: Schema = {
  type: ['boolean', 'null'],
  description: 'Failures that `continueOn.failure` tolerates fail the run.',
};

const retry: Readonly<Record<string, Schema>> = {
  step: { ...textOrNull, description: 'Only this step.' },
  from: { ...textOrNull, description: 'This step and all after it.' },
  params: paramsSchema,
  useFile: { type: ['boolean', 'null'], description: 'Uses the present file instead of the stored workflow.' },
  runId,
  strict,
};

/** The schemas of request bodies of the v2 API; unknown fields are rejected. */
export const requestSchemas: Readonly<Record<string, Schema>> = {
  StartRequest: {
    description: 'A run to start.',
    ...objectSchema({ params: paramsSchema, runId, strict }, ['params', 'runId', 'strict']),
    additionalProperties: false,
  },
  RetryRequest: {
    description: 'The steps to run again; default: the unsuccessful steps and all steps after them.',
    ...objectSchema(retry, Object.keys(retry)),
    additionalProperties: false,
  },
  MarkRequest: {
    description: 'How a step counts.',
    ...objectSchema({ status: { type: 'string', enum: ['succeeded', 'failed'] } }),
    additionalProperties: false,
  },
};
