import type { ComponentChildren, JSX } from 'preact';
import { stepLook } from '../../render/report/status-look.ts';
import { StatusIcon } from '../parts/status-icon.tsx';
import { attemptsText } from './step-text.ts';
import { MAX_TEXT, type StepView, shortened } from './view.ts';

type FailureProps = {
  readonly step: Pick<StepView, 'name' | 'error' | 'attempts' | 'repetitions' | 'tolerated'>;
  /** Whether tolerated failures fail the run. */
  readonly isStrict: boolean;
  /** Null: without a link to the step. */
  readonly href: string | null;
  /** Its position in the file, as a link. */
  readonly place?: ComponentChildren;
  readonly children?: ComponentChildren;
};

/** A failed step: the reason, and its output below. */
export function FailureBox({ step, isStrict, href, place, children }: FailureProps): JSX.Element {
  const { name, error, tolerated } = step;
  const attempts = attemptsText(step);
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
          {attempts !== '' && ` after ${attempts}`}
        </span>
        {tolerated !== undefined && !isStrict && (
          <span class="quiet">
            tolerated by <code>{`continueOn.${tolerated}`}</code>
          </span>
        )}
        {place && <span class="quiet">at {place}</span>}
      </h3>
      {children}
    </article>
  );
}
