import type { JsonObject } from '../../core/workflow.ts';
import { json, type Operation, type Parameter, ref, type Schema } from '../docs/operation.ts';
import { exampleDetail, exampleListing } from './examples.ts';

const text: Schema = { type: 'string' };
const tag = 'Version 1';

const name: Parameter = {
  name: 'name',
  in: 'path',
  description:
    'The name of the file of a workflow, with or without extension. Where two files share it, the group comes before it, with the slash encoded.',
  schema: text,
  example: 'etl',
};

function query(parameter: string, description: string, schema: Schema = text): Parameter {
  return { name: parameter, in: 'query', description, schema };
}

const remoteNode = query('remoteNode', 'Only `local` is known.');
const noWorkflow = 'Unknown workflow.';
const ambiguous = 'Several workflows have that name.';

const examples: { readonly [name: string]: JsonObject } = {
  start: { action: 'start', params: 'DAY=2026-03-01', requestId: 'etl-2026-03-01' },
  create: { action: 'new', value: 'etl' },
};

/** The descriptions of the routes of the v1 API. */
export const v1Operations = {
  list: {
    id: 'v1ListDags',
    tag,
    summary: 'Lists workflows with their last runs',
    description:
      'The answer has an `ETag`; a request with it in `If-None-Match` is answered with 304 until something changes. Workflows with errors are not in `DAGs`: `Errors` has a line for each.',
    parameters: [
      query('page', 'From 1.', { type: 'integer', minimum: 1, default: 1 }),
      query('limit', 'How many a page has at most.', { type: 'integer', minimum: 1, default: 100 }),
      query(
        'searchName',
        'Only those with this text in their name, their description or the name of their file, whatever its case.',
      ),
      query('searchTag', 'Only those with this tag, whatever its case.'),
      query(
        'group',
        'Only those in this sub-directory of the workflows directory, and those whose file has this `group`. `Errors` are of that group too.',
      ),
      remoteNode,
    ],
    answers: {
      200: json('A page of workflows.', ref('DagPageV1'), exampleListing),
      304: { description: 'Nothing has changed.' },
    },
  },
  create: {
    id: 'v1CreateDag',
    tag,
    summary: 'Makes a workflow',
    parameters: [query('action', '`new`, unless the body says so.')],
    body: { description: 'Its name.', isRequired: false, schema: ref('ActionV1'), example: examples['create'] ?? {} },
    answers: { 200: json('The name of its file.', ref('CreatedV1'), { DagID: 'etl.yaml' }) },
    problems: { 404: 'The directory is gone.', 409: 'There is a workflow of that name.' },
  },
  show: {
    id: 'v1ShowDag',
    tag,
    summary: 'Shows a workflow, its last run, and what a tab shows of it',
    parameters: [
      name,
      query('tab', 'What is shown besides.', {
        type: 'string',
        enum: ['status', 'spec', 'history', 'log', 'scheduler-log'],
        default: 'status',
      }),
      query('step', 'Whose log, in the tab `log`: that of all attempts, in order, with a line between them.'),
      query('file', 'A run instead of the last one: what `Logs[].File` or `Status.Log` says.'),
      remoteNode,
    ],
    answers: {
      200: json('The workflow.', ref('DagDetailV1'), exampleDetail),
      404: json('Unknown workflow, run or step.', {
        anyOf: [ref('NoDagV1'), ref('ErrorV1')],
      }),
    },
    problems: { 409: ambiguous },
  },
  act: {
    id: 'v1ActOnDag',
    tag,
    summary: 'Starts, stops, retries, suspends, marks, saves or renames',
    description:
      'The fields come as JSON or as a form, in which `request-id` is another name of `requestId`. `start` and `retry` answer the id of the new run, `rename` the new name of the file, everything else nothing.',
    parameters: [name, query('action', 'What to do, unless the body says so.')],
    body: { description: 'What to do.', isRequired: false, schema: ref('ActionV1'), example: examples['start'] ?? {} },
    answers: { 200: json('It is done.', ref('DoneV1'), { RequestId: 'etl-2026-03-01' }) },
    problems: {
      404: 'Unknown workflow, run or step.',
      409: 'The name is that of several workflows or is taken, or there is another run of that id.',
      422: 'The workflow has errors, listed in `diagnostics`.',
      429: 'Too many runs are waiting, or there were too many wrong logins.',
      501: 'That is not part of this version.',
    },
  },
  remove: {
    id: 'v1DeleteDag',
    tag,
    summary: 'Removes the file of a workflow',
    description: 'Its past runs stay.',
    parameters: [name],
    answers: { 200: json('It is gone.', { type: 'object' }, {}) },
    problems: { 404: noWorkflow, 409: ambiguous },
  },
  spec: {
    id: 'v1ShowSpec',
    tag,
    summary: 'Shows the text of a workflow',
    parameters: [name],
    answers: {
      200: {
        description: 'The text; as it is for who prefers YAML by `Accept`.',
        content: {
          'application/json': {
            schema: ref('SpecV1'),
            example: { Definition: 'steps:\n  - name: one\n    command: echo one\n', Errors: [] },
          },
          'text/yaml': { schema: text, example: 'steps:\n  - name: one\n    command: echo one\n' },
        },
      },
    },
    problems: { 404: noWorkflow, 409: ambiguous },
  },
  search: {
    id: 'v1SearchDags',
    tag,
    summary: 'Searches the texts of all workflows',
    parameters: [query('q', 'A regular expression in RE2 syntax, which must match in a line, whatever its case.')],
    answers: { 200: json('What was found.', ref('SearchV1')) },
  },
  tags: {
    id: 'v1ListTags',
    tag,
    summary: 'Lists every tag that a workflow has',
    answers: { 200: json('In the order of the alphabet.', ref('TagsV1'), { Tags: ['nightly'], Errors: [] }) },
  },
} as const satisfies { readonly [route: string]: Operation };
