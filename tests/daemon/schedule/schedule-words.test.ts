import { expect, it } from 'vitest';
import { noSchedule } from '#core/workflow.ts';
import { loadScheduleWords } from '#daemon/schedule/scheduler-event.ts';

it('describes each expression in words, with the zone of the expression or of the file', async () => {
  const words = await loadScheduleWords();
  const schedule = {
    ...noSchedule,
    start: ['0 2 * * *', '*/5 * * * *', '30 9 * * 1-5', '@hourly', 'CRON_TZ=Asia/Tokyo 0 0 1 * *'],
    stop: ['15 18 * * fri'],
    timeZone: 'Europe/Berlin',
  };
  expect(words(schedule)).toEqual({
    start: [
      'At 02:00, every day, Europe/Berlin',
      'Every 5 minutes, Europe/Berlin',
      'At 09:30, Monday through Friday, Europe/Berlin',
      'Every hour, Europe/Berlin',
      'At 00:00, on day 1 of the month, Asia/Tokyo',
    ],
    stop: ['At 18:15, only on Friday, Europe/Berlin'],
    restart: [],
  });
  expect(words({ ...noSchedule, start: ['0 2 * * *'] }).start).toEqual(['At 02:00, every day']);
});
