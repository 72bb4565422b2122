import type { ComponentChildren } from 'preact';
import { formatDuration, formatInterval } from '#render/text.ts';
import type { RunGraph, RunView, StepAttempt, StepView } from './api/types.ts';
import { FoldButton, InstanceName } from './fan-out/instance-row.tsx';
import { countsText, presentLook, StatusIcon } from './status.tsx';
import { countedName, instanceRows, type UnfoldedStep, type Unfolding, wholeTime } from './texts.ts';

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
  readonly brush?: ComponentChildren;
};

/** When each step was running and waiting: a row for each step, a bar for each attempt. */
export function Timeline(props: TimelineProps) {
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
export function TimelineLegend() {
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

function Gap({ rows }: { rows: number }) {
  return rows === 0 ? null : <tr style={{ height: `${rows * ROW_HEIGHT}px` }} />;
}

type RowProps = TimelineProps & {
  readonly row: TimelineRow;
  readonly bars: number;
  /** For a table with rows outside of the document, from 1. */
  readonly number: number | undefined;
};

function Row({ row, number, bars, scale, now, hrefOf, selected, critical, unfolding }: RowProps) {
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
                title={step.items === undefined ? attemptText(attempt) : countsText(step.items.map(presentLook))}
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

function Bar({ attempt, title, scale, now }: { attempt: StepAttempt; title: string; scale: TimeScale; now: number }) {
  const { startedAt, scheduledAt, readyAt, finishedAt, next } = attempt;
  const from = Date.parse(startedAt ?? scheduledAt);
  const end = finishedAt === null ? now : Date.parse(finishedAt);
  if (end < scale.from || from > scale.to) return null;
  const shared = { scale, from, y: 4, title };
  return (
    <>
      {next !== null && (
        <Line kind="wait" scale={scale} from={end} to={Date.parse(next.until)} title={`waited to ${next.why}`} />
      )}
      <Segment {...shared} kind={`bar ${attempt.status ?? 'running'}`} to={end} height={14} rx={3} />
      {readyAt !== undefined && <Segment {...shared} kind="unready" to={Date.parse(readyAt)} height={7} />}
    </>
  );
}

type SegmentProps = LineProps & { readonly y: number; readonly height: number; readonly rx?: number };

function Segment({ kind, scale, from, to, title, ...shape }: SegmentProps) {
  if (to < scale.from || from > scale.to) return null;
  const left = Math.min(percent(scale, from), 100 - NARROWEST);
  const width = Math.max(NARROWEST, percent(scale, to) - left);
  return (
    <rect class={kind} x={`${left}%`} width={`${width.toFixed(2)}%`} {...shape}>
      <title>{title}</title>
    </rect>
  );
}

type LineProps = { kind: string; scale: TimeScale; from: number; to: number; title: string };

function Line({ kind, scale, from, to, title }: LineProps) {
  const [left, right] = [percent(scale, from), percent(scale, to)];
  if (right - left < NARROWEST) return null;
  return (
    <line class={kind} x1={`${left}%`} x2={`${right}%`} y1="11" y2="11">
      <title>{`${title} ${formatDuration(to - from)}`}</title>
    </line>
  );
}

/** The outcome of an attempt: `attempt 2: failed (exit 1) after 0.3s`. */
function attemptText(made: StepAttempt): string {
  const { attempt, status, error, startedAt, scheduledAt, readyAt, finishedAt, worker } = made;
  const more = `${worker === undefined ? '' : ` on ${worker}`}${readyText(startedAt, readyAt)}`;
  if (status === null || finishedAt === null) return `attempt ${attempt}: running${more}`;
  const took = formatDuration(Date.parse(finishedAt) - Date.parse(startedAt ?? scheduledAt));
  return `attempt ${attempt}: ${status}${error === null ? '' : ` (${error})`} after ${took}${more}`;
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
  if (step.items !== undefined) return countsText(step.items.map(presentLook));
  const { history, attempts } = step;
  const shown = history.slice(-10).map(attemptText).join('; ');
  return attempts > 10 ? `${attempts} attempts, the last of them: ${shown}` : shown;
}

/** The time range of a timeline. Times are milliseconds since 1970-01-01 UTC. */
type TimeScale = {
  readonly from: number;
  readonly to: number;
  /** Distance of two ticks, in milliseconds. */
  readonly markMs: number;
};

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const intervals = [
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
  ...[1, 2, 5, 10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((count) => count * DAY),
];

const MOST_MARKS = 6;

/** Creates a scale between two times with a few ticks at round numbers. */
export function timeScale(from: number, to: number): TimeScale {
  const total = Math.max(1, to - from);
  const markMs = intervals.find((interval) => total / interval <= MOST_MARKS) ?? total;
  return { from, to: from + total, markMs };
}

/** The position of a time on the scale, in percent. */
export function percent({ from, to }: TimeScale, at: number): number {
  const share = (Math.min(to, Math.max(from, at)) - from) / (to - from);
  return Math.round(share * 10_000) / 100;
}

/** The ticks with their labels, without one that would not fit at the end. */
export function marks(scale: TimeScale): readonly { readonly at: number; readonly text: string }[] {
  const { from, to, markMs } = scale;
  const count = Math.floor((to - from) / markMs);
  return Array.from({ length: count + 1 }, (_, index) => {
    const ms = index * markMs;
    const text = ms % 100 === 0 ? formatInterval(ms) : `${ms}ms`;
    return { at: percent(scale, from + ms), text: ms === 0 ? '0' : text };
  }).filter(({ at }) => at <= 91);
}

/** `readyAt`: when only a free slot was missing, in milliseconds since 1970-01-01 UTC; null if unknown. */
type TimelineRow = UnfoldedStep & { readonly readyAt: number | null };

type TimelineView = Pick<RunView, 'steps' | 'handlers'> & {
  readonly run: Pick<RunView['run'], 'startedAt'>;
  readonly graph: Pick<RunGraph, 'edges'> | null;
};

/** The started steps in the order of their starts, then the handlers. `unfolded`: the expanded fan-outs. */
export function timelineRows(
  { run, steps, handlers, graph }: TimelineView,
  unfolded: ReadonlySet<string> = new Set(),
): readonly TimelineRow[] {
  const ends = new Map(steps.map(({ name, finishedAt }) => [name, finishedAt === null ? 0 : Date.parse(finishedAt)]));
  const readyAt = new Map<string, number>();
  const start = run.startedAt === null ? null : Date.parse(run.startedAt);
  for (const { from, to } of graph?.edges ?? []) {
    readyAt.set(to, Math.max(readyAt.get(to) ?? 0, ends.get(from) ?? 0));
  }
  const rows = (of: readonly StepView[], isHandler: boolean) =>
    of
      .filter((step) => barsOf(step).length > 0 || heldFrom(step) !== null)
      .map((step) => ({ step, begin: beginning(step) }))
      .sort((a, b) => a.begin - b.begin)
      .flatMap(({ step }) => [
        {
          step,
          readyAt: isHandler || start === null || graph === null ? null : Math.max(start, readyAt.get(step.name) ?? 0),
          instance: null,
          of: null,
        },
        ...(unfolded.has(step.name) ? startedInstances(step) : []),
      ]);
  return [...rows(steps, false), ...rows(handlers, true)];
}

/** The started instances of a fan-out, as rows. */
export function startedInstances(fanOut: StepView): readonly TimelineRow[] {
  const started = instanceRows(fanOut).filter(({ step }) => step.startedAt !== null);
  return started.map((row) => ({ ...row, readyAt: null }));
}

/** The attempts of a step; a fan-out has one bar for its whole time, since its instances have the attempts. */
function barsOf(step: StepView): StepView['history'] {
  return step.items === undefined ? step.history : wholeTime(step);
}

/** When a step started first, in milliseconds since 1970-01-01 UTC. */
export function beginning(step: StepView): number {
  const [first] = barsOf(step);
  return first === undefined ? (heldFrom(step) ?? 0) : Date.parse(first.scheduledAt);
}

/** When a step began to wait for approval, in milliseconds since 1970-01-01 UTC; null if it has not. */
function heldFrom({ approval }: StepView): number | null {
  return approval?.since == null ? null : Date.parse(approval.since);
}

/** The wait of a step for approval, until `now` while it lasts; null if it has not begun. */
function heldTime(step: StepView, now: number): { readonly from: number; readonly to: number } | null {
  const from = heldFrom(step);
  const end = step.approval?.at ?? step.finishedAt;
  return from === null ? null : { from, to: end === null ? now : Date.parse(end) };
}
