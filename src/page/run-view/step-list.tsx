import type { JSX } from 'preact';
import { stepLook } from '../../render/report/status-look.ts';
import { formatDuration, formatElapsed } from '../../render/text/duration.ts';
import type { StepView } from '../api/types.ts';
import { StatusIcon } from '../parts/status-icon.tsx';

type RowProps = { readonly step: StepView; readonly href: string; readonly isSelected: boolean; readonly now: number };

/** A step as a row: its status, its name, why it is so, and how long it took. */
export function StepRow({ step, href, isSelected, now }: RowProps): JSX.Element {
  const look = stepLook(step.status);
  return (
    <li>
      <a class={`step-row ${look.kind}`} href={href} aria-current={isSelected ? 'true' : undefined}>
        <StatusIcon look={look} label={look.word} />
        <span class="name">
          <bdi>{step.name}</bdi>
        </span>
        <span class="why">{step.error ?? (step.attempts > 1 ? `${step.attempts} attempts` : '')}</span>
        <span class="took">{durationText(step, now)}</span>
      </a>
    </li>
  );
}

function durationText({ durationMs, startedAt, status }: StepView, now: number): string {
  if (durationMs !== null) return formatDuration(durationMs);
  return startedAt !== null && status === 'running' ? formatElapsed(now - Date.parse(startedAt)) : '';
}
