import { listSchema, objectSchema } from '../../docs/object-schema.ts';
import { ref, type Schema } from '../../docs/operation.ts';

const text: Schema = { type: 'string' };
const number: Schema = { type: 'integer' };

const place = objectSchema({
  source: { ...number, description: 'The number of the file in `sources`, from 0.' },
  line: { ...number, description: 'From 1.' },
  column: number,
  endLine: number,
  endColumn: number,
});

const node = objectSchema({
  name: text,
  handler: {
    type: ['string', 'null'],
    enum: ['success', 'failure', 'cancel', 'exit', null],
    description: 'Null for a step.',
  },
  executor: text,
  place: { anyOf: [place, { type: 'null' }], description: 'The first line of the step; null where it is not found.' },
});

const graph = objectSchema({
  nodes: listSchema(node, 'In the order of the file, handlers last.'),
  edges: listSchema(objectSchema({ from: text, to: text }), '`to` depends on `from`.'),
});

/** Returns the schemas of the view of a run. */
export function runViewSchemas(): Readonly<Record<string, Schema>> {
  return {
    RunView: {
      description: 'A run with its graph, attempts and sources.',
      ...objectSchema({
        run: ref('RunHead'),
        warnings: listSchema(text),
        steps: listSchema(ref('StepView'), 'In the order of the file, imported ones first.'),
        handlers: listSchema(ref('StepView'), 'Handlers that the run reached, in the order in which they ran.'),
        graph: {
          anyOf: [graph, { type: 'null' }],
          description: 'Null where the files of the run are damaged.',
        },
        sources: listSchema(
          objectSchema({ path: { ...text, description: 'Absolute, or `-`: standard input.' }, text }),
          'The files that the run was made from: the workflow, what it imports, the base configuration.',
        ),
        subRuns: listSchema(
          objectSchema({ step: text, run: ref('RunHead') }),
          'The runs that carried out steps, unless they were removed.',
        ),
        fileStatus: {
          type: ['string', 'null'],
          enum: ['same', 'changed', 'gone', null],
          description: 'How the files are now, compared to `sources`; null where that cannot be seen.',
        },
        masked: { type: 'boolean', description: 'Secrets are not kept with the run: a retry needs the file.' },
      }),
    },
  };
}
