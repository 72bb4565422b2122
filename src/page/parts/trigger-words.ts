import type { RunHead } from '#run-view/api/types.ts';

/** What started a run, in words. */
export const triggerWords = {
  cli: 'command line',
  api: 'API',
  schedule: 'schedule',
  workflow: 'parent workflow',
  retry: 'retry policy',
} as const satisfies Record<RunHead['trigger'], string>;
