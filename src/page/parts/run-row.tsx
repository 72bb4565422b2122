import type { ComponentChildren } from 'preact';
import { shortId } from '#render/text.ts';
import type { RunHead } from '#run-view/api/types.ts';
import { StatusIcon } from '#run-view/components.ts';
import { presentRunLook } from '#run-view/texts.ts';
import { to } from '../api/address.ts';
import { Ago, Took } from './time.tsx';
import type { RowAttributes } from './virtual-list.tsx';

type RowProps = {
  readonly run: RunHead;
  /** Whether all runs of the list are of one workflow. */
  readonly isOfOne?: boolean;
  readonly attributes?: RowAttributes;
  readonly note?: ComponentChildren;
  /** A check box that selects the run for an action; `isRange`: with all rows between. */
  readonly choice?: { readonly isChosen: boolean; readonly toggle: (isRange: boolean) => void } | null;
};

/** A run in a list. */
export function RunRow({ run, isOfOne = false, attributes, note, choice }: RowProps) {
  const look = presentRunLook(run);
  const params = run.params.map(({ name, value }) => (name === null ? value : `${name}=${value}`)).join(' ');
  const about = [run.lateSince === undefined ? '' : 'late', run.error ?? '', params]
    .filter((text) => text !== '')
    .join(' · ');
  return (
    <li class={`row run-row ${choice ? 'with-choice' : ''}`} {...attributes}>
      {choice && (
        <label class="choice">
          <input
            type="checkbox"
            checked={choice.isChosen}
            aria-label={`Select ${run.workflow} ${shortId(run.runId)}`}
            onClick={(event) => choice.toggle(event.shiftKey)}
          />
        </label>
      )}
      <StatusIcon look={look} label={look.word} />
      <span class="what">
        <a class="name" href={to.run(run.runId)}>
          <bdi>{isOfOne ? shortId(run.runId) : run.workflow}</bdi>
        </a>
        {!isOfOne && <code class="quiet">{shortId(run.runId)}</code>}
        {note}
        {!note && about !== '' && (
          <span class="about" title={about}>
            {about}
          </span>
        )}
      </span>
      <span class="trigger quiet">
        {triggerWords[run.trigger]}
        {run.retryOf !== null && ', retry'}
      </span>
      <span class="last">
        <Ago at={run.createdAt} />
      </span>
      <Took ms={run.durationMs} since={run.startedAt} />
    </li>
  );
}

/** What started a run, in words. */
export const triggerWords = {
  cli: 'command line',
  api: 'API',
  schedule: 'schedule',
  workflow: 'parent workflow',
  retry: 'retry policy',
  backfill: 'backfill',
} as const satisfies Record<RunHead['trigger'], string>;
