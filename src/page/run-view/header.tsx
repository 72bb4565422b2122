import type { ComponentChildren, JSX } from 'preact';
import { runLook, stepLook } from '../../render/report/status-look.ts';
import { formatDuration, formatElapsed } from '../../render/text/duration.ts';
import { shortId } from '../../render/text/short-id.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { MAX_TEXT, type RunHead, type StepView, shortened } from './view.ts';

/** How many steps have each status. */
export type StepCounts = ReadonlyMap<StepView['status'], number>;

type HeaderProps = {
  readonly run: RunHead;
  readonly counts: StepCounts;
  readonly now: number;
  readonly name: ComponentChildren;
  readonly facts?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** What else is known of the run, below all this. */
  readonly children?: ComponentChildren;
};

/** What a run is and how it is, in a few lines. */
export function RunHeader({ run, counts, now, name, facts, actions, children }: HeaderProps): JSX.Element {
  const look = runLook(run.status);
  return (
    <header class={`card run-header ${look.kind}`}>
      <div class="run-title">
        <StatusIcon look={look} />
        <h1>{name}</h1>
        <code class="quiet" title={run.runId}>
          {shortId(run.runId)}
        </code>
        <span class="space" />
        {actions && <div class="actions">{actions}</div>}
      </div>
      <p class="outcome">
        <strong>{outcomeText(run, now)}</strong> {facts}
      </p>
      {run.error !== null && run.reason !== 'step' && <p class="run-error">{shortened(run.error, MAX_TEXT)}</p>}
      <Progress counts={counts} />
      {children}
    </header>
  );
}

/** `Failed after 6.2s`, `Running for 12s`. */
function outcomeText(run: RunHead, now: number): string {
  const { word } = runLook(run.status);
  const text = word.charAt(0).toUpperCase() + word.slice(1);
  if (run.durationMs !== null) return `${text} after ${formatDuration(run.durationMs)}`;
  return `${text} for ${formatElapsed(now - Date.parse(run.startedAt ?? run.createdAt))}`;
}

/** Counts steps by status. */
export function countSteps(steps: Iterable<Pick<StepView, 'status'>>): StepCounts {
  const counts = new Map<StepView['status'], number>();
  for (const { status } of steps) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}

const order: readonly StepView['status'][] = [
  'failed',
  'canceled',
  'succeeded',
  'running',
  'waiting',
  'scheduled',
  'skipped',
  'upstream_failed',
  'pending',
];

/** How many steps have each status, as a bar and in words. */
function Progress({ counts }: { counts: StepCounts }): JSX.Element {
  const present = order.flatMap((status) => ({ status, count: counts.get(status) ?? 0 })).filter(({ count }) => count);
  const total = present.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  return (
    <>
      <svg class="share" width="100%" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {present.map(({ status, count }) => {
          const x = start;
          start += (100 * count) / total;
          return <rect key={status} class={status} x={x} y="0" width={start - x} height="6" />;
        })}
      </svg>
      <ul class="counts">
        {present.map(({ status, count }) => (
          <li key={status} class={status}>
            <StatusIcon look={stepLook(status)} />
            {count.toLocaleString('en')} {stepLook(status).word}
          </li>
        ))}
      </ul>
    </>
  );
}
