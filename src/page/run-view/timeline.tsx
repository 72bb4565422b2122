import type { JSX } from 'preact';
import { stepLook } from '../../render/report/status-look.ts';
import { formatDuration } from '../../render/text/duration.ts';
import type { StepAttempt, StepView } from '../api/types.ts';
import { StatusIcon } from '../parts/status-icon.tsx';

type TimelineProps = {
  readonly steps: readonly StepView[];
  readonly from: number;
  readonly to: number;
  readonly hrefOf: (step: string) => string;
  readonly selected: string | null;
};

/** When each attempt of each step ran: a bar an attempt, dashed where the step waited for the next. */
export function Timeline({ steps, from, to, hrefOf, selected }: TimelineProps): JSX.Element {
  const length = Math.max(1, to - from);
  const marks = timeMarks(length);
  return (
    <table class="timeline">
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col" class="track">
            <svg width="100%" height="16" aria-hidden="true">
              {marks.map((at) => (
                <text key={at} x={`${(100 * at) / length}%`} y="12">
                  {formatDuration(at)}
                </text>
              ))}
            </svg>
            <span class="sr">Attempts</span>
          </th>
          <th scope="col" class="num">
            Took
          </th>
        </tr>
      </thead>
      <tbody>
        {steps.map((step) => (
          <tr key={step.name} class={step.name === selected ? 'selected' : ''}>
            <th scope="row">
              <StatusIcon look={stepLook(step.status)} label={stepLook(step.status).word} />
              <a href={hrefOf(step.name)}>
                <bdi>{step.name}</bdi>
              </a>
            </th>
            <td class="track">
              <svg width="100%" height="22" role="img" aria-label={barsText(step)}>
                {step.history.map((attempt) => (
                  <Bar key={attempt.attempt} attempt={attempt} status={step.status} span={{ from, to, length }} />
                ))}
              </svg>
            </td>
            <td class="num">{step.durationMs === null ? '' : formatDuration(step.durationMs)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type Span = { readonly from: number; readonly to: number; readonly length: number };

function Bar({ attempt, status, span }: { attempt: StepAttempt; status: string; span: Span }): JSX.Element | null {
  const percent = (at: string | number) => (100 * (Number(new Date(at)) - span.from)) / span.length;
  const { startedAt, finishedAt, next } = attempt;
  if (startedAt === null) return null;
  const x = percent(startedAt);
  const end = percent(finishedAt ?? span.to);
  const waited = next === null ? null : Math.min(percent(next.until), percent(span.to));
  return (
    <>
      <rect
        class={`bar ${attempt.status ?? status}`}
        x={`${x}%`}
        y="4"
        width={`${Math.max(0.2, end - x)}%`}
        height="14"
        rx="2"
      />
      {waited !== null && <line class="wait" x1={`${end}%`} x2={`${waited}%`} y1="11" y2="11" />}
    </>
  );
}

function barsText({ history }: StepView): string {
  const texts = history.map(({ attempt, status, startedAt, finishedAt }) => {
    const took =
      startedAt === null || finishedAt === null
        ? ''
        : ` after ${formatDuration(Date.parse(finishedAt) - Date.parse(startedAt))}`;
    return `attempt ${attempt}: ${status ?? 'running'}${took}`;
  });
  return texts.length === 0 ? 'no attempt' : texts.join(', ');
}

/** Round times in ms, at most six, from 0. */
function timeMarks(length: number): readonly number[] {
  const steps = [100, 200, 500, 1000, 2000, 5000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000, 1_800_000];
  const hour = 3_600_000;
  const step = steps.find((each) => length / each <= 5) ?? Math.ceil(length / 5 / hour) * hour;
  return Array.from({ length: Math.floor(length / step) + 1 }, (_, index) => index * step).filter(
    (at) => at < length * 0.93,
  );
}
