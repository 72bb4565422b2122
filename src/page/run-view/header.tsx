import type { ComponentChildren, JSX } from 'preact';
import { runLook, type StatusKind, stepLook } from '../../render/report/status-look.ts';
import { formatDuration, formatElapsed } from '../../render/text/duration.ts';
import { shortId } from '../../render/text/short-id.ts';
import type { RunHead, StepView } from '../api/types.ts';
import { StatusIcon } from '../parts/status-icon.tsx';

type HeaderProps = {
  readonly run: RunHead;
  readonly steps: readonly StepView[];
  readonly now: number;
  readonly name: ComponentChildren;
  readonly facts: ComponentChildren;
  readonly actions: ComponentChildren;
};

/** What a run is and how it is, in a few lines. */
export function RunHeader({ run, steps, now, name, facts, actions }: HeaderProps): JSX.Element {
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
        <div class="actions">{actions}</div>
      </div>
      <p class="outcome">
        <strong>{outcomeText(run, now)}</strong> {facts}
      </p>
      {run.error !== null && run.reason !== 'step' && <p class="run-error">{run.error}</p>}
      <Progress steps={steps} />
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

const order: readonly StatusKind[] = [
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
function Progress({ steps }: { steps: readonly StepView[] }): JSX.Element {
  const counts = order
    .map((status) => ({ status, count: steps.filter((step) => step.status === status).length }))
    .filter(({ count }) => count > 0);
  let start = 0;
  return (
    <>
      <svg class="share" width="100%" height="6" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
        {counts.map(({ status, count }) => {
          const x = start;
          start += (100 * count) / steps.length;
          return <rect key={status} class={status} x={x} y="0" width={start - x} height="6" />;
        })}
      </svg>
      <ul class="counts">
        {counts.map(({ status, count }) => (
          <li key={status}>
            <StatusIcon look={{ kind: status, word: '' }} />
            {count} {stepLook(status as StepView['status']).word}
          </li>
        ))}
      </ul>
    </>
  );
}
