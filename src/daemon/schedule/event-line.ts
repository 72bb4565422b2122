import { basename } from 'node:path';
import { messageOf } from '../../errors.ts';
import type { SchedulerEvent } from './scheduler-event.ts';

/** Formats an event of the scheduler for the operator's log; null for normal operation. */
export function schedulerLine(event: SchedulerEvent): string | null {
  switch (event.type) {
    case 'started':
    case 'stopped':
    case 'waiting':
      return null;
    case 'skipped':
      return `${basename(event.file)}: skipped the run of ${time(event.moment)}: another run is active`;
    case 'missed':
      return `${basename(event.file)}: missed ${event.kind}, ${times(event)}`;
    case 'failed':
      return `${basename(event.file)}: cannot ${event.kind}, due ${time(event.moment)}: ${messageOf(event.error)}${event.isOver ? '' : ' (will be retried)'}`;
    case 'broken':
      return `${basename(event.file)}: has errors, so its schedule is not run`;
    case 'trouble':
      return `the scheduler: ${messageOf(event.error)}`;
  }
}

function times({ count, first, last }: Extract<SchedulerEvent, { type: 'missed' }>): string {
  return count === 1 ? `due ${time(first)}` : `${count} times from ${time(first)} to ${time(last)}`;
}

function time(moment: number): string {
  return new Date(moment).toISOString().slice(0, 16).concat('Z');
}
