import { isNumberText } from '#core/step-numbers.ts';
import type { Json } from '#core/workflow.ts';
import type { Path } from '../problem.ts';

const START = 'The daemon reads it before a run has variables';
const HISTORY = 'It is read after the run, to remove old runs. Write a number.';
const RETRY = 'The daemon reads it after the run, to retry it.';
const WRITE = 'Write a number.';
const LENGTH = 'Write seconds, or a length such as 90s or 2d12h.';

/** Numbers that no variable can give, by their path, and what to write. */
const reasons: { readonly [path: string]: string } = {
  maxActiveRuns: `${START}. To limit the steps by a variable, write "maxActiveSteps".`,
  maxConcurrent: `${START}. ${WRITE}`,
  histRetentionDays: HISTORY,
  histRetentionRuns: HISTORY,
  restartWaitSec: `It is read between two runs. ${LENGTH}`,
  MaxCleanUpTimeSec: `It is also needed to end a run that has no variables, or lost its process. ${LENGTH}`,
  'retryPolicy.limit': `${RETRY} ${WRITE}`,
  'retryPolicy.intervalSec': `${RETRY} ${LENGTH}`,
  'retryPolicy.maxIntervalSec': `${RETRY} ${LENGTH}`,
  'retryPolicy.backoff': `${RETRY} Write true, or a number above 1.`,
  consoleSize: `The size of a terminal takes no variables. Write whole numbers.`,
  'container.healthcheck.retries': `The settings of a health check take no variables. ${WRITE}`,
};

/** Why the number at a path cannot be a variable, and what to write; null for other keys and values. */
export function fixedNumber(path: Path, value: Json | undefined): string | null {
  if (!isNumberText(value)) return null;
  const names = path.filter((part) => typeof part === 'string').join('.');
  const [key] = /container\.healthcheck\.\w+$|consoleSize$/.exec(names) ?? [names];
  return reasons[key] ?? null;
}
