import type { RecordField } from '#core/log-forwarding.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { LogStream } from '#store/logs.ts';

/** One line for the sink, in its wire format. */
export type ForwardedRecord = {
  readonly requestId: string;
  readonly dagName: string;
  /** Empty for lines about the run as a whole. */
  readonly stepName: string;
  readonly line: string;
  readonly timestamp?: string;
  /** `output`, `stdout` or `stderr`, or `run` for lines about the run itself. */
  readonly stream?: string;
  readonly attempt?: number;
};

/** The run that produced the lines. */
export type LineSource = { readonly requestId: string; readonly dagName: string };

/** All data of a line. */
export type Line = {
  readonly stepName: string;
  readonly line: string;
  readonly at: number;
  readonly stream: LogStream | 'run';
  readonly attempt: number;
};

/** Builds a record with the four mandatory fields and the requested ones. */
export function makeRecord(source: LineSource, line: Line, fields: readonly RecordField[]): ForwardedRecord {
  return {
    ...source,
    stepName: line.stepName,
    line: line.line,
    ...(fields.includes('timestamp') ? { timestamp: new Date(line.at).toISOString() } : {}),
    ...(fields.includes('stream') ? { stream: line.stream } : {}),
    ...(fields.includes('attempt') ? { attempt: line.attempt } : {}),
  };
}

/** Describes an event in one line; null for internal events. */
export function eventLine(event: StoredEvent): Line | null {
  const tell = (line: string, stepName = '', attempt = 0): Line => ({
    stepName,
    line,
    at: event.at,
    stream: 'run',
    attempt,
  });
  switch (event.type) {
    case 'run.started':
      return tell('run started');
    case 'step.restored':
      return tell(`step ${event.step} taken over: ${event.status}`, event.step);
    case 'step.started': {
      const again = event.attempt > 1 ? ` (attempt ${event.attempt})` : '';
      return tell(`step ${event.step} started${again}`, event.step, event.attempt);
    }
    case 'step.serving':
      return tell(`step ${event.step} ready`, event.step, event.attempt);
    case 'step.ending':
      return tell(`step ${event.step} ending`, event.step, event.attempt);
    case 'step.expanded':
      return tell(`step ${event.step} has ${event.items.length} items`, event.step);
    case 'step.canceling':
      return tell(`step ${event.step} is being ended${because(event.message)}`, event.step);
    case 'step.waiting': {
      const { outcome, why, step, attempt } = event;
      const message = 'message' in outcome ? `: ${outcome.message}` : '';
      return tell(`step ${step} ${outcome.status}${message}; ${why} follows`, step, attempt);
    }
    case 'step.finished':
      return tell(`step ${event.step} ${event.status}${because(event.message)}`, event.step, event.attempt);
    case 'step.held':
      return tell(`step ${event.step} waits for approval${because(event.prompt)}`, event.step, event.attempt);
    case 'step.answered':
      return tell(`step ${event.step} ${event.answer}${because(event.comment)}`, event.step);
    case 'run.canceling':
      return tell(`run is being ended${because(event.message)}`);
    case 'run.warned':
      return tell(`warning: ${event.message}`, event.step ?? '');
    case 'run.finished':
      return tell(`run ${event.status}${because(event.message)}`);
    case 'step.marked':
      return tell(`step ${event.step} marked as ${event.status} by ${event.by}`, event.step);
    case 'run.created':
    case 'run.queued':
    case 'run.owned':
    case 'run.prepared':
    case 'run.delayed':
    case 'run.handling':
    case 'step.scheduled':
    case 'step.contained':
    case 'step.ready':
      return null;
  }
}

function because(message: string): string {
  return message === '' ? '' : `: ${message}`;
}
