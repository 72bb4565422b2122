import { listSchema, objectSchema } from '../../docs/object-schema.ts';
import { ref, type Schema } from '../../docs/operation.ts';

const text: Schema = { type: 'string' };
const textOrNull: Schema = { type: ['string', 'null'] };
const flag: Schema = { type: 'boolean' };
const number: Schema = { type: 'integer' };
const time: Schema = { type: 'string', format: 'date-time' };

const moment = objectSchema({
  at: time,
  kind: { type: 'string', enum: ['start', 'stop', 'restart'] },
  workflow: { ...text, description: 'The `id` of the workflow.' },
  file: text,
  suspended: flag,
});

const setting = objectSchema({
  key: text,
  value: { description: 'Null: there is none. A secret is `***` where it is set.' },
  source: { ...text, description: 'A flag, a variable, a file with its line, or `default`.' },
  level: text,
  default: { description: 'Null: there is none.' },
  type: text,
  flag: textOrNull,
  variable: text,
  usedBy: text,
  inProject: flag,
  secret: flag,
  description: text,
});

/** What the routes about the daemon answer, and those for several runs and for logs. */
export const daemonSchemas: Readonly<Record<string, Schema>> = {
  DaemonInfo: {
    description: 'The daemon.',
    ...objectSchema({
      version: { ...text, description: 'Of the program.' },
      node: { ...text, description: 'The version of Node.js.' },
      host: text,
      pid: number,
      startedAt: time,
      timeZone: { ...text, description: 'The zone of schedules that name none.' },
      access: { type: 'string', enum: ['read', 'write'], description: 'What the login of this request may do.' },
    }),
  },
  DaemonConfig: {
    description: 'The settings of the daemon.',
    ...objectSchema({
      settings: listSchema(setting),
      places: { type: 'object', additionalProperties: textOrNull, description: 'Directories and files; null: none.' },
    }),
  },
  DaemonSchedule: {
    description: 'What schedules do.',
    ...objectSchema({ from: time, to: time, moments: listSchema(moment), more: flag, missed: number }),
  },
  RunQueue: {
    description: 'The queue of the daemon.',
    ...objectSchema({
      limit: { type: ['integer', 'null'], description: 'How many of its runs may run at once; null: any number.' },
      running: listSchema(ref('RunHead'), 'Those that take a place.'),
      waiting: listSchema(ref('RunHead'), 'In the order in which they start.'),
    }),
  },
  BatchRequest: {
    description: 'Several runs.',
    ...objectSchema({
      ids: { type: 'array', items: text, minItems: 1, maxItems: 500 },
      action: { type: 'string', enum: ['stop', 'retry', 'delete'] },
    }),
    additionalProperties: false,
  },
  BatchResults: {
    description: 'What came of each run.',
    ...objectSchema({
      results: listSchema(
        objectSchema({
          id: { ...text, description: 'As in the request.' },
          done: flag,
          runId: { ...textOrNull, description: 'The run, or the new one of a retry.' },
          code: { ...textOrNull, description: 'As in a Problem.' },
          message: textOrNull,
        }),
      ),
    }),
  },
  LogIndex: {
    description: 'Where the lines of a log begin.',
    ...objectSchema({
      size: { ...number, description: 'Bytes of the whole log.' },
      lines: { ...number, description: 'A last line without its end counts.' },
      every: { ...number, description: 'Lines between two positions.' },
      deltas: listSchema(number, 'Bytes from each position to the next, from the start or from `after` on.'),
    }),
  },
  LogHit: {
    description: 'A line that has what was searched for.',
    ...objectSchema({
      step: text,
      attempt: number,
      stream: { type: 'string', enum: ['stdout', 'stderr'] },
      line: { ...number, description: 'From 1, in this log.' },
      offset: { ...number, description: 'Of the start of the line, in bytes.' },
      text: { ...text, description: 'Of a long line the first 1,000 characters.' },
    }),
  },
};
