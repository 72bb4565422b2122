import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import type { NotificationEvent, Workflow } from '#core/workflow.ts';
import type { Notify } from '#engine/engine.ts';
import { type Delivery, type NotifierOptions, sendOne } from './send-notifications.ts';

/** The workflow without its work: a run of it evaluates parameters, `env` and secrets, and ends. */
export function withoutWork(workflow: Workflow): Workflow {
  const handlers = { success: null, failure: null, cancel: null, exit: null };
  return { ...workflow, steps: [], preconditions: [], handlers };
}

/** At the end of a run, sends a sample of each notification of `workflow`, and reports the results. */
export function createSampler(
  workflow: Workflow,
  options: Omit<NotifierOptions, 'failedBefore'>,
  report: (deliveries: readonly Delivery[]) => void,
): Notify {
  return (notice) => {
    if (notice.step !== null || notice.status === 'failed') return null;
    const sent = (workflow.notify ?? []).map(async (notification) => {
      const [first = 'always'] = notification.on;
      const event = first === 'always' ? 'success' : first;
      const summaryOf = async () => sampleRun(await options.summaryOf(notice, 0), workflow, event);
      const { delivery } = await sendOne(notification, { notice, event }, { ...options, summaryOf });
      return delivery;
    });
    return Promise.all(sent).then((deliveries) => {
      report(deliveries);
      return [];
    });
  };
}

const statuses = {
  failure: 'failed',
  success: 'succeeded',
  recovery: 'succeeded',
  cancel: 'canceled',
  skipped: 'skipped',
  waiting: 'running',
  late: 'running',
} as const;

/** A run that ended with the event; of a failure the first step is the cause. */
function sampleRun(real: RunSummary, { name, steps }: Workflow, event: NotificationEvent): RunSummary {
  const summary = { ...real, workflow: `${name} (sample)`, status: statuses[event] };
  const [first] = steps;
  if (event !== 'failure' || first === undefined) return { ...summary, error: 'This is a sample.' };
  const error = 'This is a sample of a failure.';
  return { ...summary, reason: 'step', error: `step "${first.name}" failed`, steps: [failedStep(first.name, error)] };
}

function failedStep(name: string, error: string): StepSummary {
  const times = { startedAt: null, finishedAt: null, durationMs: null };
  const nothing = { exitCode: null, signal: null, outputs: {}, log: null };
  return { name, status: 'failed', reason: 'exit', error, attempts: 0, ...times, ...nothing };
}
