import type { ComponentChildren, JSX } from 'preact';
import { presentLook } from '../../render/report/status-look.ts';
import { formatDuration, formatElapsed } from '../../render/text/duration.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { counted } from './step-text.ts';
import type { StepView } from './view.ts';

type LineProps = { readonly step: StepView; readonly now: number; readonly name: ComponentChildren };

/** A step in one line: its status, its name, why it is so, and how long it took. */
export function StepLine({ step, now, name }: LineProps): JSX.Element {
  const look = presentLook(step);
  const why = [
    step.error,
    step.kept && 'kept from an earlier run',
    step.attempts > 1 && counted(step.attempts, 'attempt'),
  ];
  return (
    <>
      <StatusIcon look={look} label={look.word} />
      {name}
      <span class="why">{why.filter(Boolean).join(' · ')}</span>
      <span class="took">{durationText(step, now)}</span>
    </>
  );
}

type RowProps = {
  readonly step: StepView;
  readonly href: string;
  readonly isSelected: boolean;
  readonly now: number;
  /** In a list of which not every row is in the document: the index of the row, and how many rows there are. */
  readonly place?: { readonly index: number; readonly count: number };
};

/** A step as a row that chooses it. */
export function StepRow({ step, href, isSelected, now, place }: RowProps): JSX.Element {
  const name = (
    <span class="name">
      <bdi>{step.name}</bdi>
    </span>
  );
  return (
    <li {...(place && { 'aria-posinset': place.index + 1, 'aria-setsize': place.count })}>
      <a class={`step-row ${step.status}`} href={href} aria-current={isSelected ? 'true' : undefined}>
        <StepLine step={step} now={now} name={name} />
      </a>
    </li>
  );
}

function durationText({ durationMs, startedAt, status }: StepView, now: number): string {
  if (durationMs !== null) return formatDuration(durationMs);
  return startedAt !== null && status === 'running' ? formatElapsed(now - Date.parse(startedAt)) : '';
}
