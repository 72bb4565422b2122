import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { Activity } from '#run-view/api/types.ts';
import { counted, runLook } from '#run-view/texts.ts';
import { api, ask } from '../api/client.ts';
import { createResource } from '../data/resource.ts';
import { ProblemBox } from '../parts/problem-box.tsx';
import { momentText } from '../parts/time.tsx';

type Hour = Activity['hours'][number];
type Counts = Hour['statuses'];

/** Interval between two readings, in milliseconds. */
const REFRESH_MS = 60_000;
const HOURS = 24;
const WIDTH = 10;
const HEIGHT = 40;
/** The smallest height, so that a single failed run is visible. */
const LEAST_HEIGHT = 2;

/** The runs of the last day by hour. */
export function RunsByHour(): JSX.Element {
  const shown = useMemo(
    () => createResource(() => ask(api.GET('/api/v2/activity', { params: { query: { hours: HOURS } } }))),
    [],
  );
  useEffect(() => {
    void shown.refresh();
    const timer = setInterval(() => {
      if (!document.hidden) void shown.refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [shown]);
  const { value, problem } = shown.known.value;
  return (
    <>
      <h2>Runs of the last {HOURS} hours</h2>
      {problem !== null && value === null ? (
        <ProblemBox problem={problem} retry={() => void shown.refresh()} />
      ) : (
        <Chart hours={value?.hours ?? []} isKnown={value !== null} />
      )}
    </>
  );
}

function Chart({ hours, isKnown }: { hours: readonly Hour[]; isKnown: boolean }): JSX.Element {
  const most = Math.max(1, ...hours.map(({ statuses }) => sum(statuses)));
  const total = totalOf(hours);
  if (isKnown && sum(total) === 0) return <p class="quiet">No run was started.</p>;
  const text = countsText(total);
  const summary = `${text}, at most ${most.toLocaleString('en')} in an hour`;
  return (
    <div class="card padded">
      <svg
        class="ticks"
        role="img"
        aria-label={text}
        width="100%"
        height="64"
        viewBox={`0 0 ${HOURS * WIDTH} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {hours.map((hour, index) => (
          <Bar key={hour.from} hour={hour} x={index * WIDTH} most={most} />
        ))}
      </svg>
      <p class="quiet">{isKnown ? summary : '…'}</p>
    </div>
  );
}

/** The runs of an hour: failed ones at the top, where nothing covers them. */
function Bar({ hour: { from, statuses }, x, most }: { hour: Hour; x: number; most: number }): JSX.Element {
  let top = HEIGHT;
  return (
    <g>
      <title>{`${momentText(from).slice(0, 16)}: ${countsText(statuses)}`}</title>
      <rect class="tick-area" x={x} y="0" width={WIDTH} height={HEIGHT} />
      {inOrder(statuses).map(([status, count]) => {
        const height = Math.max(LEAST_HEIGHT, (HEIGHT * count) / most);
        top = Math.max(0, top - height);
        return <rect key={status} class={runLook(status).kind} x={x + 1} y={top} width={WIDTH - 2} height={height} />;
      })}
    </g>
  );
}

type Status = Parameters<typeof runLook>[0];

/** The counts from the usual status to the remarkable ones. */
function inOrder(statuses: Counts): readonly (readonly [Status, number])[] {
  const order = ['succeeded', 'skipped', 'pending', 'running', 'canceled', 'partly', 'failed'];
  const rank = (status: Status) => order.indexOf(runLook(status).kind);
  return (Object.entries(statuses) as [Status, number][]).sort(([a], [b]) => rank(a) - rank(b));
}

function totalOf(hours: readonly Hour[]): Counts {
  const total: Record<string, number> = {};
  for (const { statuses } of hours)
    for (const [status, count] of Object.entries(statuses)) total[status] = (total[status] ?? 0) + count;
  return total;
}

function sum(statuses: Counts): number {
  return Object.values(statuses).reduce((all, count) => all + count, 0);
}

/** `12 runs: 1 failed, 11 succeeded`. */
function countsText(statuses: Counts): string {
  const all = sum(statuses);
  if (all === 0) return 'no runs';
  const ordered = inOrder(statuses).toReversed();
  const parts = ordered.map(([status, count]) => `${count.toLocaleString('en')} ${runLook(status).word}`);
  return `${counted(all, 'run')}: ${parts.join(', ')}`;
}
