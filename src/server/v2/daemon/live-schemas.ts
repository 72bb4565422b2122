import { listSchema, objectSchema } from '../../docs/object-schema.ts';
import { ref, type Schema } from '../../docs/operation.ts';

const text: Schema = { type: 'string' };
const textOrNull: Schema = { type: ['string', 'null'] };
const wholeNumber: Schema = { type: 'integer' };
const time: Schema = { type: 'string', format: 'date-time' };
const timeOrNull: Schema = { type: ['string', 'null'], format: 'date-time' };

const attempt: Schema = {
  description: 'One attempt at a step.',
  ...objectSchema({
    attempt: { ...wholeNumber, description: 'From 1.' },
    status: {
      type: ['string', 'null'],
      enum: ['succeeded', 'failed', 'skipped', 'canceled', null],
      description: 'Null until it has ended.',
    },
    error: { ...textOrNull, description: 'One line.' },
    exitCode: { type: ['integer', 'null'] },
    signal: textOrNull,
    scheduledAt: time,
    startedAt: timeOrNull,
    finishedAt: timeOrNull,
    next: {
      anyOf: [objectSchema({ why: { type: 'string', enum: ['retry', 'repeat'] }, until: time }), { type: 'null' }],
      description: 'What the step waited for afterwards, and until when.',
    },
  }),
};

/** What the events of the stream of all changes carry, beside what lists have. */
export function liveSchemas(step: Schema): Readonly<Record<string, Schema>> {
  const { properties, required } = step as { properties: Record<string, Schema>; required: readonly string[] };
  return {
    StepAttempt: attempt,
    StepView: {
      ...step,
      description: 'A step or handler of a run with its attempts.',
      properties: { ...properties, history: listSchema(ref('StepAttempt'), 'The last 100 attempts, in their order.') },
      required: [...required, 'history'],
    },
    StepEvent: { description: 'A step that has changed.', ...objectSchema({ runId: text, step: ref('StepView') }) },
    LogSize: {
      description: 'How long the log of an attempt is.',
      ...objectSchema({
        runId: text,
        step: text,
        attempt: wholeNumber,
        stream: { type: 'string', enum: ['stdout', 'stderr'] },
        size: { ...wholeNumber, description: 'In bytes.' },
      }),
    },
    RunWarnings: {
      description: 'The warnings of a run.',
      ...objectSchema({ runId: text, warnings: listSchema(text) }),
    },
    RemovedRun: { description: 'A run that is gone.', ...objectSchema({ runId: text }) },
    RemovedWorkflow: {
      description: 'A workflow that is gone.',
      ...objectSchema({ file: { ...text, description: 'The absolute path.' } }),
    },
    DaemonStatus: {
      description: 'How the daemon is.',
      ...objectSchema({
        version: { ...text, description: 'Of the program.' },
        running: { ...wholeNumber, description: 'Runs that some process carries out.' },
        queued: { ...wholeNumber, description: 'Runs that wait for a place.' },
      }),
    },
    ResetEvent: {
      description: 'What has changed since the cursor is not known.',
      ...objectSchema({ why: { type: 'string', enum: ['unknown', 'too-old'] } }),
    },
  };
}
