import type { ComponentChildren } from 'preact';
import { formatDuration, formatElapsed, shortId } from '#render/text.ts';
import type { StepView } from './api/types.ts';
import { FoldButton, InstanceName } from './fan-out/instance-row.tsx';
import { presentLook, StatusIcon } from './status.tsx';
import {
  attemptsText,
  countedName,
  type EarlierRun,
  earlierNote,
  type Instance,
  itemText,
  progressText,
  type Unfolding,
} from './texts.ts';

type LineProps = {
  readonly step: StepView;
  readonly now: number;
  readonly name: ComponentChildren;
  readonly item?: string | null;
  readonly earlier: EarlierRun | null;
};

/** A step in one line: status, name, reason and duration. */
export function StepLine({ step, now, name, item = null, earlier }: LineProps) {
  const look = presentLook(step);
  const note = earlierNote(step, earlier);
  const why = [
    item,
    step.items !== undefined && step.error === null && progressText(step.items),
    step.error,
    step.kept && 'kept from an earlier run',
    step.lateSince !== undefined && 'late',
    attemptsText(step),
  ];
  return (
    <>
      <StatusIcon look={look} label={look.word} />
      {name}
      <span class="why">{why.filter(Boolean).join(' · ')}</span>
      <span class="took">
        {note !== '' && (
          <span class="before" title={`Compared with run ${shortId(earlier?.runId ?? '')}`}>
            {note}
          </span>
        )}{' '}
        {durationText(step, now)}
      </span>
    </>
  );
}

type RowProps = {
  readonly step: StepView;
  readonly href: string;
  readonly isSelected: boolean;
  readonly now: number;
  readonly earlier?: EarlierRun | null;
  /** For a list with rows outside of the document: the index of the row, and the total. */
  readonly position?: { readonly index: number; readonly count: number };
  /** Whether the instances of a fan-out are expanded; absent if they cannot be. */
  readonly unfolding?: Unfolding | undefined;
  readonly instance?: Instance | null;
};

/** A step, or an instance of a fan-out, as a row that selects it. */
export function StepRow(props: RowProps) {
  const { step, href, isSelected, now, earlier = null, position, unfolding, instance = null } = props;
  const name = (
    <span class="name">
      {instance === null ? <bdi>{countedName(step)}</bdi> : <InstanceName instance={instance} />}
    </span>
  );
  const isFanOut = step.items !== undefined && unfolding !== undefined;
  const kind = isFanOut ? 'fan-out' : instance === null ? undefined : 'instance';
  return (
    <li class={kind} {...(position && { 'aria-posinset': position.index + 1, 'aria-setsize': position.count })}>
      {isFanOut && <FoldButton step={step} unfolding={unfolding} />}
      <a class={`step-row ${step.status}`} href={href} aria-current={isSelected ? 'true' : undefined}>
        <StepLine step={step} now={now} name={name} item={instance && itemText(instance)} earlier={earlier} />
      </a>
    </li>
  );
}

function durationText({ durationMs, startedAt, status }: StepView, now: number): string {
  if (durationMs !== null) return formatDuration(durationMs);
  return startedAt !== null && status === 'running' ? formatElapsed(now - Date.parse(startedAt)) : '';
}
