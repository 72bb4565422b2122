import type { Schedule } from '#core/workflow.ts';
import { parseCron } from '#language/cron.ts';

/** The expressions of a schedule in words, such as `At 02:00, every day`, in the order of the file. */
export type ScheduleWords = { readonly [kind in 'start' | 'stop' | 'restart']: readonly string[] };

/** A single start. */
const MOMENT = /^\d{4}-\d\d-\d\dT/;
/** A time of the day without a word about the days. */
const everyDay = /^At \d\d:\d\d$/;

/** Loads the library that describes cron expressions. */
export async function loadScheduleWords(): Promise<(schedule: Schedule) => ScheduleWords> {
  const { default: cronstrue } = await import('cronstrue');
  const wordsOf = (expression: string, zoneOfFile: string | null): string => {
    if (MOMENT.test(expression)) return `once, ${expression.slice(0, 16).replace('T', ' ')} UTC`;
    const zone = parseCron(expression)?.timeZone ?? null;
    const fields = zone === null ? expression : expression.slice(expression.search(/\s/)).trim();
    const words = cronstrue.toString(fields, { use24HourTimeFormat: true });
    return `${words}${everyDay.test(words) ? ', every day' : ''}${(zone ?? zoneOfFile) ? `, ${zone ?? zoneOfFile}` : ''}`;
  };
  return ({ start, stop, restart, timeZone }) => ({
    start: start.map((expression) => wordsOf(expression, timeZone)),
    stop: stop.map((expression) => wordsOf(expression, timeZone)),
    restart: restart.map((expression) => wordsOf(expression, timeZone)),
  });
}
