import type { StoredEvent } from '#core/run/run.ts';
import { logStream } from '#store/log-ends.ts';
import type { LogChunk } from '#store/logs.ts';
import { isObject, numberIn, textIn } from '../transport/json-fields.ts';

/** Output of a step, with its offset in that stream of the attempt. */
export type RemoteChunk = LogChunk & { readonly offset: number };

/** Parses output sent by a daemon; null if it is invalid. */
export function readRemoteOutput(data: string): RemoteChunk | null {
  const output = parse(data);
  if (!isObject(output)) return null;
  const { step, stream, bytes } = {
    step: textIn(output, 'step'),
    stream: logStream(output['stream']),
    bytes: textIn(output, 'bytes'),
  };
  const { attempt, offset } = { attempt: numberIn(output, 'attempt'), offset: numberIn(output, 'offset') };
  if (step === null || stream === null || bytes === null || attempt === null || offset === null) return null;
  return { step, attempt, stream, offset, bytes: Buffer.from(bytes, 'base64') };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The required fields of each event type. */
const needed: {
  readonly [type in StoredEvent['type']]: { readonly [field: string]: 'text' | 'number' | 'list' | 'object' };
} = {
  'run.created': { workflow: 'text', params: 'list' },
  'run.queued': { by: 'object' },
  'run.owned': { owner: 'object' },
  'run.prepared': { params: 'list' },
  'run.started': {},
  'step.restored': { step: 'text', status: 'text', outputs: 'object' },
  'step.scheduled': { step: 'text', attempt: 'number' },
  'step.started': { step: 'text', attempt: 'number' },
  'step.contained': { step: 'text', attempt: 'number', container: 'object' },
  'step.serving': { step: 'text', attempt: 'number' },
  'step.ending': { step: 'text', attempt: 'number' },
  'step.expanded': { step: 'text', attempt: 'number', items: 'list' },
  'step.canceling': { step: 'text', message: 'text' },
  'step.waiting': { step: 'text', attempt: 'number', until: 'number', outcome: 'object' },
  'step.ready': { step: 'text' },
  'step.held': { step: 'text', attempt: 'number', message: 'text', outputs: 'object', prompt: 'text' },
  'step.answered': { step: 'text', answer: 'text', comment: 'text', inputs: 'object' },
  'step.finished': { step: 'text', attempt: 'number', status: 'text', message: 'text', outputs: 'object' },
  'step.marked': { step: 'text', status: 'text', run: 'object' },
  'run.delayed': { until: 'number' },
  'run.canceling': { message: 'text' },
  'run.handling': { status: 'text', handlers: 'list' },
  'run.warned': { message: 'text' },
  'run.finished': { status: 'text', message: 'text' },
};

/** Parses an event sent by a daemon; null if it is unknown to this version or invalid. */
export function readEvent(data: string): StoredEvent | null {
  const event = parse(data);
  if (!isObject(event)) return null;
  const type = textIn(event, 'type') ?? '';
  const until = typeof event['until'] === 'string' ? { until: Date.parse(textIn(event, 'until') ?? '') } : {};
  const read = { ...event, ...until, at: Date.parse(textIn(event, 'at') ?? '') };
  const isWhole = Number.isFinite(read.at) && numberIn(event, 'seq') !== null && hasFields(read, type);
  return isWhole ? (read as unknown as StoredEvent) : null;
}

function hasFields(event: { readonly [field: string]: unknown }, type: string): boolean {
  if (!Object.hasOwn(needed, type)) return false;
  return Object.entries(needed[type as StoredEvent['type']]).every(([field, kind]) => isOf(event[field], kind));
}

function isOf(value: unknown, kind: 'text' | 'number' | 'list' | 'object'): boolean {
  switch (kind) {
    case 'text':
      return typeof value === 'string';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'list':
      return Array.isArray(value);
    case 'object':
      return isObject(value);
  }
}
