import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { byteText } from '#render/text/byte-text.ts';
import type { DaemonInfo, RunQueue } from '#run-view/api/types.ts';
import { isNearlyFull } from '../data/disk.ts';
import { Ago } from '../parts/time.tsx';

type HealthProps = {
  readonly info: DaemonInfo;
  readonly queue: RunQueue;
  /** Reads the figures again. */
  readonly refresh: () => Promise<void>;
};

/** Interval between two readings of the figures, in milliseconds. */
const REFRESH_MS = 10_000;

/** The daemon, with its event loop and its disk, and a warning before the disk is full. */
export function Health({ info, queue, refresh }: HealthProps): JSX.Element {
  useEffect(() => {
    const timer = setInterval(() => {
      if (!document.hidden) void refresh();
    }, REFRESH_MS);
    return () => clearInterval(timer);
  }, [refresh]);
  const { disk, eventLoopLagMs: lag } = info;
  const facts: readonly (readonly [string, JSX.Element | string])[] = [
    ['Version', info.version],
    ['Running since', <Ago key="since" at={info.startedAt} />],
    ['Process', `${info.pid} on ${info.host}`],
    ['Node.js', info.node],
    ['Time zone', info.timeZone],
    ['Limit of running runs', queue.limit === null ? 'no limit' : String(queue.limit)],
    ['Event loop delay', `${lag.mean} ms on average, ${lag.max} ms at most`],
    ...(disk === null ? [] : [['Disk of the runs', `${spaceText(disk)} in ${disk.path}`] as const]),
  ];
  return (
    <>
      {disk !== null && isNearlyFull(disk) && (
        <p class="warning-line" role="status">
          The disk of the runs is nearly full: {spaceText(disk)}. Without space no run can start. <code>wf gc</code>{' '}
          removes old runs.
        </p>
      )}
      <dl class="facts-list card padded">
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </>
  );
}

function spaceText({ freeBytes, totalBytes }: NonNullable<DaemonInfo['disk']>): string {
  return `${byteText(freeBytes)} of ${byteText(totalBytes)} free`;
}
