import { runStatuses } from '../../../core/run/run.ts';
import { listSchema, objectSchema } from '../../docs/object-schema.ts';
import { ref, type Schema } from '../../docs/operation.ts';

const text: Schema = { type: 'string' };

const gridRun = objectSchema({
  runId: text,
  status: { type: 'string', enum: [...runStatuses] },
  createdAt: { type: 'string', format: 'date-time' },
  durationMs: { type: ['number', 'null'] },
  cells: { ...text, description: 'A letter for each of `steps`.' },
});

const renamed = {
  id: { ...text, description: 'What a path calls it.' },
  file: { ...text, description: 'The absolute path.' },
};

/** What the routes take and answer that change a workflow, and its grid. */
export const workflowSchemas: Readonly<Record<string, Schema>> = {
  SavedWorkflow: {
    description: 'A file that was saved.',
    ...objectSchema({ ...renamed, diagnostics: listSchema(ref('Diagnostic'), 'Problems of the file.') }),
  },
  RenamedWorkflow: { description: 'A file with its new name.', ...objectSchema(renamed) },
  RenameRequest: {
    description: 'A new name.',
    ...objectSchema(
      {
        to: { ...text, description: 'With or without extension, which stays.' },
        group: { ...text, description: 'The subdirectory, such as `ops/nightly`, or empty; by default it stays.' },
      },
      ['group'],
    ),
    additionalProperties: false,
  },
  SuspendRequest: {
    description: 'Whether the schedule is suspended.',
    ...objectSchema({ suspended: { type: 'boolean' } }),
    additionalProperties: false,
  },
  WorkflowGrid: {
    description: 'Past runs of a workflow with the status of each step.',
    ...objectSchema({
      steps: listSchema(text, 'In the order of the newest run, then those of older runs only, then handlers.'),
      runs: listSchema(gridRun, 'Newest first.'),
      nextCursor: {
        type: ['string', 'null'],
        description: 'What to pass as `cursor` for the next page; null on the last.',
      },
    }),
  },
};
