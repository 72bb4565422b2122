import { basename } from 'node:path';
import { messageOf } from '../../errors.ts';
import type { SchedulerEvent } from './scheduler-event.ts';

/** What a person who runs a daemon should know of its scheduler, as a line; null for what goes as it should. */
export function schedulerLine(event: SchedulerEvent): string | null {
  switch (event.type) {
    case 'started':
    case 'stopped':
    case 'waiting':
      return null;
    case 'skipped':
      return `${basename(event.file)}: left out the run of ${time(event.moment)}: another is active`;
    case 'missed':
      return `${basename(event.file)}: missed ${event.kind}, ${times(event)}`;
    case 'failed':
      return `${basename(event.file)}: cannot ${event.kind}, due ${time(event.moment)}: ${messageOf(event.error)}${event.isOver ? '' : ' (tried again)'}`;
    case 'broken':
      return `${basename(event.file)}: has errors, so that nothing of its schedule is started`;
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
