import type { ComponentChildren, JSX } from 'preact';
import { formatDuration } from '#render/text.ts';
import type { StepAttempt, StepView } from './api/types.ts';
import { countedName, countsText, type Unfolding } from './fan-out/instance.ts';
import { FoldButton, InstanceName } from './fan-out/instance-row.tsx';
import { StatusIcon } from './status-icon.tsx';
import { presentLook } from './status-look.ts';
import { barsOf, beginning, heldTime, marks, percent, type TimelineRow, type TimeScale } from './time-scale.ts';

/** The smallest visible width of a bar, in percent. */
const NARROWEST = 0.35;
/** The limit of bars in all rows together; the last attempts of each step take precedence. */
const MAX_BARS = 20_000;
/** In pixels, as in the style sheet. */
export const ROW_HEIGHT = 30;

type TimelineProps = {
  readonly rows: readonly TimelineRow[];
  readonly scale: TimeScale;
  readonly now: number;
  /** `key`: the key of an instance of the step. */
  readonly hrefOf: (step: string, key?: string) => string;
  /** Absent if fan-outs cannot be expanded. */
  readonly unfolding?: Unfolding;
  readonly selected?: string | null;
  readonly critical: ReadonlySet<string>;
  /** Height of the rows omitted above and below, in pixels. */
  readonly outside?: { readonly above: number; readonly below: number };
  /** An overlay on the axis. */
  readonly brush?: ComponentChildren;
};

/** When each step was running and waiting: a row for each step, a bar for each attempt. */
export function Timeline(props: TimelineProps): JSX.Element {
  const { rows, scale, outside, brush } = props;
  const bars = Math.max(20, Math.floor(MAX_BARS / Math.max(1, rows.length)));
  return (
    <table class="timeline" {...(outside && { 'aria-rowcount': outside.above + rows.length + outside.below + 1 })}>
      <thead>
        <tr>
          <th scope="col">Step</th>
          <th scope="col" class="track">
            <span class="sr">Timeline</span>
            <svg width="100%" height="18" aria-hidden="true">
              {marks(scale).map(({ at, text }) => (
                <text key={at} x={`${at}%`} dx="3" y="13">
                  {text}
                </text>
              ))}
            </svg>
            {brush}
          </th>
          <th scope="col" class="num">
            Time
          </th>
        </tr>
      </thead>
      <tbody>
        <Gap rows={outside?.above ?? 0} />
        {rows.map((row, index) => (
          <Row key={row.step.name} row={row} number={outside && outside.above + index + 2} bars={bars} {...props} />
        ))}
        <Gap rows={outside?.below ?? 0} />
      </tbody>
    </table>
  );
}

const signs: readonly (readonly [text: string, shape: ComponentChildren])[] = [
  ['an attempt', <rect class="bar succeeded" y="1" width="22" height="8" rx="2" />],
  ['waiting before the next attempt', <path class="wait" d="M0 5h22" />],
  ['waiting for approval', <rect class="held approval" y="2.5" width="22" height="5" />],
  [
    'a service until it is ready',
    <g>
      <rect class="bar succeeded" y="1" width="22" height="8" rx="2" />
      <rect class="unready" y="1" width="11" height="4" />
    </g>,
  ],
  ['ready, waiting for a free slot', <path class="queue" d="M0 5h22" />],
  [
    'critical path: the run waited for these steps',
    <rect class="critical-mark" x="1" y="1" width="20" height="8" rx="2" />,
  ],
];

/** The legend of a timeline. */
export function TimelineLegend(): JSX.Element {
  return (
    <p class="legend">
      {signs.map(([text, shape]) => (
        <span key={text}>
          <svg width="22" height="10" aria-hidden="true">
            {shape}
          </svg>{' '}
          {text}
        </span>
      ))}
    </p>
  );
}

function Gap({ rows }: { rows: number }): JSX.Element | null {
  return rows === 0 ? null : <tr style={{ height: `${rows * ROW_HEIGHT}px` }} />;
}

type RowProps = TimelineProps & {
  readonly row: TimelineRow;
  readonly bars: number;
  /** For a table with rows outside of the document, from 1. */
  readonly number: number | undefined;
};

function Row({ row, number, bars, scale, now, hrefOf, selected, critical, unfolding }: RowProps): JSX.Element {
  const { step, readyAt, instance, of } = row;
  const { name, status, durationMs } = step;
  const held = heldTime(step, now);
  const isFanOut = step.items !== undefined && unfolding !== undefined;
  const look = presentLook(step);
  const names = [
    critical.has(name) && 'critical',
    name === selected && 'selected',
    isFanOut && 'fan-out',
    instance !== null && 'instance',
  ];

  return (
    <tr
      class={names.filter(Boolean).join(' ') || undefined}
      aria-rowindex={number}
      data-name={name}
      data-status={status}
    >
      <th scope="row">
        {isFanOut && <FoldButton step={step} unfolding={unfolding} />}
        <a href={hrefOf(of ?? name, instance?.key)}>
          <StatusIcon look={look} label={look.word} />
          {instance === null ? <bdi>{countedName(step)}</bdi> : <InstanceName instance={instance} />}
        </a>
      </th>
      <td class="track">
        <svg
          width="100%"
          height="22"
          role="img"
          aria-label={[attemptsText(step), held && heldText(step, held)].filter(Boolean).join('; ')}
        >
          {readyAt !== null && (
            <Line kind="queue" scale={scale} from={readyAt} to={beginning(step)} title="waited for a free slot" />
          )}
          {barsOf(step)
            .slice(-bars)
            .map((attempt) => (
              <Bar
                key={attempt.attempt}
                attempt={attempt}
                title={step.items === undefined ? attemptText(attempt) : countsText(step.items)}
                scale={scale}
                now={now}
              />
            ))}
          {held !== null && (
            <Segment kind="held approval" scale={scale} {...held} y={7} height={8} title={heldText(step, held)} />
          )}
        </svg>
      </td>
      <td class="num">{durationMs === null ? '' : formatDuration(durationMs)}</td>
    </tr>
  );
}

type BarProps = {
  readonly attempt: StepAttempt;
  readonly title: string;
  readonly scale: TimeScale;
  readonly now: number;
};

function Bar({ attempt, title, scale, now }: BarProps): JSX.Element | null {
  const { startedAt, scheduledAt, readyAt, finishedAt, next } = attempt;
  const from = Date.parse(startedAt ?? scheduledAt);
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  if (end < scale.from || from > scale.to) return null;
  const left = Math.min(percent(scale, from), 100 - NARROWEST);
  const width = Math.max(NARROWEST, percent(scale, end) - left);
  return (
    <>
      {next !== null && (
        <Line kind="wait" scale={scale} from={end} to={Date.parse(next.until)} title={`waited to ${next.why}`} />
      )}
      <rect
        class={`bar ${attempt.status ?? 'running'}`}
        x={`${left}%`}
        y="4"
        width={`${width.toFixed(2)}%`}
        height="14"
        rx="3"
      >
        <title>{title}</title>
      </rect>
      {readyAt !== undefined && (
        <Segment kind="unready" scale={scale} from={from} to={Date.parse(readyAt)} y={4} height={7} title={title} />
      )}
    </>
  );
}

type SegmentProps = Omit<LineProps, 'kind'> & {
  readonly kind: 'held approval' | 'unready';
  readonly y: number;
  readonly height: number;
};

/** A part of a row that differs in height from the bar of an attempt. */
function Segment({ kind, scale, from, to, y, height, title }: SegmentProps): JSX.Element | null {
  if (to < scale.from || from > scale.to) return null;
  const left = Math.min(percent(scale, from), 100 - NARROWEST);
  const width = Math.max(NARROWEST, percent(scale, to) - left);
  return (
    <rect class={kind} x={`${left}%`} y={y} width={`${width.toFixed(2)}%`} height={height}>
      <title>{title}</title>
    </rect>
  );
}

type LineProps = {
  readonly kind: 'queue' | 'wait';
  readonly scale: TimeScale;
  readonly from: number;
  readonly to: number;
  readonly title: string;
};

function Line({ kind, scale, from, to, title }: LineProps): JSX.Element | null {
  const [left, right] = [percent(scale, from), percent(scale, to)];
  if (right - left < NARROWEST) return null;
  return (
    <line class={kind} x1={`${left}%`} x2={`${right}%`} y1="11" y2="11">
      <title>{`${title} ${formatDuration(to - from)}`}</title>
    </line>
  );
}

/** The outcome of an attempt: `attempt 2: failed (exit 1) after 0.3s`. */
function attemptText({ attempt, status, error, startedAt, scheduledAt, readyAt, finishedAt }: StepAttempt): string {
  if (status === null || finishedAt === null) return `attempt ${attempt}: running${readyText(startedAt, readyAt)}`;
  const took = formatDuration(Date.parse(finishedAt) - Date.parse(startedAt ?? scheduledAt));
  return `attempt ${attempt}: ${status}${error === null ? '' : ` (${error})`} after ${took}${readyText(startedAt, readyAt)}`;
}

function readyText(startedAt: string | null, readyAt: string | undefined): string {
  if (startedAt === null || readyAt === undefined) return '';
  return `, ready ${formatDuration(Date.parse(readyAt) - Date.parse(startedAt))} after its start`;
}

/** `waited 2m10s for approval`. */
function heldText({ waitingFor }: StepView, { from, to }: { readonly from: number; readonly to: number }): string {
  const verb = waitingFor === 'approval' ? 'waiting' : 'waited';
  return `${verb} ${formatDuration(Math.max(0, to - from))} for approval`;
}

function attemptsText(step: StepView): string {
  if (step.items !== undefined) return countsText(step.items);
  const { history, attempts } = step;
  const shown = history.slice(-10).map(attemptText).join('; ');
  return attempts > 10 ? `${attempts} attempts, the last of them: ${shown}` : shown;
}
