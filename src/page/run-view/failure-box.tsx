import type { ComponentChildren, JSX } from 'preact';
import { stepLook } from '../../render/report/status-look.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { counted } from './step-text.ts';
import { MAX_TEXT, type StepView, shortened } from './view.ts';

type FailureProps = {
  readonly step: Pick<StepView, 'name' | 'error' | 'attempts'>;
  /** Null: the step is not shown elsewhere. */
  readonly href: string | null;
  /** Where it is in the file, as a link. */
  readonly place?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** A failed step: why it failed, and below what it printed. */
export function FailureBox({ step: { name, error, attempts }, href, place, children }: FailureProps): JSX.Element {
  return (
    <article class="failure">
      <h3>
        <StatusIcon look={stepLook('failed')} />
        {href === null ? (
          <bdi>{name}</bdi>
        ) : (
          <a href={href}>
            <bdi>{name}</bdi>
          </a>
        )}
        <span class="failure-why">
          {shortened(error ?? 'failed', MAX_TEXT)}
          {attempts > 1 && ` after ${counted(attempts, 'attempt')}`}
        </span>
        {place && <span class="quiet">at {place}</span>}
      </h3>
      {children}
    </article>
  );
}
