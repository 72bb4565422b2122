import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { byteText, shortId } from '#render/text.ts';
import type {
  Activity,
  DaemonConfig,
  DaemonInfo,
  DaemonSchedule,
  Lock,
  RunHead,
  RunQueue,
} from '#run-view/api/types.ts';
import { type Fact, FactList } from '#run-view/components.ts';
import { counted, runLook } from '#run-view/texts.ts';
import { to } from '../api/address.ts';
import { ApiProblem, api, ask } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { isNearlyFull } from '../data/disk.ts';
import { followLive } from '../data/live.ts';
import { isReadOnly } from '../data/login-session.ts';
import { createKept, useInterval, useResource } from '../data/resource.ts';
import { type ShownSystem, System } from '../data/system.ts';
import { Button } from '../parts/controls.tsx';
import { LoadingOrProblem, ProblemBox } from '../parts/problem-box.tsx';
import { RunRow } from '../parts/run-row.tsx';
import { useTitle } from '../parts/screen.tsx';
import { Ago, Moment, momentText, now, relativeText } from '../parts/time.tsx';

const kept = createKept<ShownSystem>();

/** The daemon: its queue, the next scheduled starts, and its settings. */
export function SystemScreen() {
  useTitle('System');
  const shown = useMemo(() => new System(kept.get('')), []);
  useEffect(() => {
    const events = { run: shown.takeRun, queue: shown.takeQueue, schedule: shown.takeSchedule };
    const stop = followLive(null, events, () => void shown.refresh());
    return () => {
      stop();
      kept.set('', shown.known.value.value);
    };
  }, [shown]);
  const { value, problem } = shown.known.value;
  if (value === null) return <LoadingOrProblem what="System" problem={problem} retry={shown.refresh} />;
  return (
    <section>
      <h1>System</h1>
      <Health info={value.info} queue={value.queue} refresh={shown.refreshFigures} />
      <RunsByHour />
      <Queue queue={value.queue} />
      <Locks locks={value.locks} />
      <Coming schedule={value.schedule} />
      <Settings config={value.config} />
    </section>
  );
}

function Queue({ queue: { running, waiting } }: { queue: RunQueue }) {
  const problem = useSignal<ApiProblem | null>(null);
  const runNext = async (id: string) => {
    problem.value = null;
    try {
      await ask(api.PUT('/api/v2/queue/{id}', { params: { path: { id } }, body: { position: 'first' } }));
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  return (
    <>
      <h2>Queue</h2>
      {running.length + waiting.length === 0 ? (
        <p class="quiet">No run is running or waiting.</p>
      ) : (
        <ul class="card rows" aria-label="Running and waiting runs">
          {running.map((run) => (
            <RunRow key={run.runId} run={run} />
          ))}
          {waiting.map((run, index) => (
            <RunRow
              key={run.runId}
              run={run}
              note={index > 0 && !isReadOnly.value && <NextButton run={run} onPress={() => runNext(run.runId)} />}
            />
          ))}
        </ul>
      )}
      {problem.value !== null && <ProblemBox problem={problem.value} />}
    </>
  );
}

/** The locks in use, each with its holders and those that wait; without any, nothing. */
function Locks({ locks }: { locks: readonly Lock[] }) {
  if (locks.length === 0) return null;
  return (
    <>
      <h2>Locks</h2>
      <ul class="card rows" aria-label="Locks in use">
        {locks.flatMap((lock) => [
          ...lock.holders.map((use) => <LockRow key={`${lock.name} ${use.runId} ${use.step}`} lock={lock} use={use} />),
          ...lock.waiters.map((use) => (
            <LockRow key={`${lock.name} ${use.place}`} lock={lock} use={use} place={use.place} />
          )),
        ])}
      </ul>
    </>
  );
}

type LockRowProps = { lock: Lock; use: Lock['holders'][number]; place?: number };

function LockRow({ lock: { kind, name, within }, use, place }: LockRowProps) {
  const step = use.step === null ? '' : `, step ${use.step}`;
  return (
    <li class="row due">
      <span>
        <bdi>{kind === 'queue' ? `queue ${name}` : name}</bdi>
        {within !== undefined && <span class="quiet"> within a run that holds it</span>}
      </span>
      <a class="name" href={to.run(use.runId)}>
        <bdi>{`${use.workflow} ${shortId(use.runId)}${step}`}</bdi>
      </a>
      <span class="quiet">
        {place === undefined ? 'held since ' : `waits at position ${place} since `}
        <Ago at={use.since} />
        {use.unknown !== undefined && `; ${use.unknown} may have ended`}
      </span>
    </li>
  );
}

function NextButton({ run, onPress }: { run: RunHead; onPress: () => Promise<void> }) {
  const isPending = useSignal(false);
  const press = async () => {
    isPending.value = true;
    await onPress();
    isPending.value = false;
  };
  return (
    <Button
      class="tag"
      text="Run next"
      aria-label={`Run next: ${run.workflow} ${shortId(run.runId)}`}
      disabled={isPending.value || isOffline.value}
      onClick={press}
    />
  );
}

/** The number of scheduled times shown at first. */
const SHOWN_MOMENTS = 10;
const MAX_MOMENTS = 50;

function Coming({ schedule: { moments, missed } }: { schedule: DaemonSchedule }) {
  const isWhole = useSignal(false);
  const list = useRef<HTMLUListElement>(null);
  // The button that had the focus is gone.
  useEffect(() => {
    if (isWhole.value) list.current?.querySelectorAll('a')[SHOWN_MOMENTS]?.focus();
  }, [isWhole.value]);
  const shown = moments.slice(0, isWhole.value ? MAX_MOMENTS : SHOWN_MOMENTS);
  return (
    <>
      <h2>Schedule</h2>
      {missed > 0 && (
        <p class="warning-line">
          {counted(missed, 'start')} {missed === 1 ? 'was' : 'were'} missed.
        </p>
      )}
      {moments.length === 0 ? (
        <p class="quiet">No schedule is due.</p>
      ) : (
        <ul ref={list} class="card rows" aria-label="What is due next">
          {shown.map(({ at, kind, workflow, suspended }) => (
            <li key={`${at} ${kind} ${workflow}`} class="row due">
              <span>
                <Moment at={at} /> <span class="quiet">{relativeText(now.value - Date.parse(at))}</span>
              </span>
              <a class="name" href={to.workflow(workflow)}>
                <bdi>{workflow.replace(/[.]ya?ml$/, '')}</bdi>
              </a>
              <span class="quiet">
                {kind}
                {suspended && ', suspended'}
              </span>
            </li>
          ))}
        </ul>
      )}
      {moments.length > shown.length && !isWhole.value && (
        <p class="more">
          <Button
            class="plain"
            text={`Show ${Math.min(moments.length, MAX_MOMENTS) - shown.length} more`}
            onClick={() => (isWhole.value = true)}
          />
        </p>
      )}
    </>
  );
}

function Settings({ config }: { config: DaemonConfig }) {
  return (
    <>
      <h2>Settings</h2>
      <section class="card scroll" tabIndex={0} aria-label="Settings">
        <table class="settings">
          <thead>
            <tr>
              <th scope="col">Setting</th>
              <th scope="col">Value</th>
              <th scope="col">Source</th>
            </tr>
          </thead>
          <tbody>
            {config.settings.map(({ key, value, source }) => (
              <tr key={key}>
                <th scope="row">
                  <code>{key}</code>
                </th>
                <td>
                  <code>{typeof value === 'string' ? value : JSON.stringify(value)}</code>
                </td>
                <td class="quiet">{source}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </>
  );
}

/** Intervals between two readings of the figures, and of the activity, in milliseconds. */
const FIGURES_MS = 10_000;
const ACTIVITY_MS = 60_000;

/** The daemon, with its event loop and its disk, and a warning before the disk is full. */
function Health({ info, queue, refresh }: { info: DaemonInfo; queue: RunQueue; refresh: () => Promise<void> }) {
  useInterval(refresh, FIGURES_MS);
  const { disk, eventLoopLagMs: lag } = info;
  const facts: readonly Fact[] = [
    ['Version', info.version],
    ['Running since', <Ago key="since" at={info.startedAt} />],
    ['Process', `${info.pid} on ${info.host}`],
    ['Node.js', info.node],
    ['Time zone', info.timeZone],
    ['Limit of running runs', queue.limit === null ? 'no limit' : String(queue.limit)],
    ['Event loop delay', `${lag.mean} ms on average, ${lag.max} ms at most`],
    ['Disk of the runs', disk && `${spaceText(disk)} in ${disk.path}`],
  ];
  return (
    <>
      {disk !== null && isNearlyFull(disk) && (
        <p class="warning-line" role="status">
          The disk of the runs is nearly full: {spaceText(disk)}. Without space no run can start. <code>wf gc</code>{' '}
          removes old runs.
        </p>
      )}
      <FactList kind="card padded" facts={facts} />
    </>
  );
}

function spaceText({ freeBytes, totalBytes }: NonNullable<DaemonInfo['disk']>): string {
  return `${byteText(freeBytes)} of ${byteText(totalBytes)} free`;
}

type Hour = Activity['hours'][number];
type Counts = Hour['statuses'];

const HOURS = 24;
const WIDTH = 10;
const HEIGHT = 40;
/** The smallest height, so that a single failed run is visible. */
const LEAST_HEIGHT = 2;

/** The runs of the last day by hour. */
function RunsByHour() {
  const { value, problem, refresh } = useResource(
    () => ask(api.GET('/api/v2/activity', { params: { query: { hours: HOURS } } })),
    [],
  );
  useInterval(refresh, ACTIVITY_MS);
  return (
    <>
      <h2>Runs of the last {HOURS} hours</h2>
      {problem !== null && value === null ? (
        <ProblemBox problem={problem} retry={refresh} />
      ) : (
        <Chart hours={value?.hours ?? []} isKnown={value !== null} />
      )}
    </>
  );
}

function Chart({ hours, isKnown }: { hours: readonly Hour[]; isKnown: boolean }) {
  const most = Math.max(1, ...hours.map(({ statuses }) => sum(statuses)));
  const total: Record<string, number> = {};
  for (const [status, count] of hours.flatMap(({ statuses }) => Object.entries(statuses)))
    total[status] = (total[status] ?? 0) + count;
  if (isKnown && sum(total) === 0) return <p class="quiet">No run was started.</p>;
  const text = countsText(total);
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
      <p class="quiet">{isKnown ? `${text}, at most ${most.toLocaleString('en')} in an hour` : '…'}</p>
    </div>
  );
}

/** The runs of an hour: failed ones at the top, where nothing covers them. */
function Bar({ hour: { from, statuses }, x, most }: { hour: Hour; x: number; most: number }) {
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
