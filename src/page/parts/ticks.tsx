import type { JSX } from 'preact';
import { useLocation } from 'preact-iso';
import { formatDuration } from '#render/text/duration.ts';
import type { Workflow } from '#run-view/api/types.ts';
import { runLook } from '#run-view/status-look.ts';
import { pathOf, to } from '../api/address.ts';
import { followSvgLink } from '../graph/svg-link.ts';

const WIDTH = 7;
const HEIGHT = 22;
/** The smallest height, so that a run without a duration is visible. */
const LEAST_HEIGHT = 4;

/** The last runs of a workflow, the newest at the right: the colour of each is its status, its height its duration. */
export function Ticks({ recent }: { recent: Workflow['recent'] }): JSX.Element | null {
  const { route } = useLocation();
  if (recent === null || recent.length === 0) return null;
  const longest = Math.max(1, ...recent.map(({ durationMs }) => durationMs ?? 0));
  const runs = recent.toReversed();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys
    <svg
      class="ticks"
      width={runs.length * WIDTH}
      height={HEIGHT}
      role="group"
      aria-label={ticksText(recent)}
      onClick={(event) => followSvgLink(event, (path) => route(pathOf(path)))}
    >
      {runs.map(({ runId, status, durationMs }, index) => {
        const look = runLook(status);
        const height = Math.max(LEAST_HEIGHT, Math.round((HEIGHT * (durationMs ?? longest)) / longest));
        return (
          // In SVG only the lower-case name is an attribute. By keyboard, the history of the workflow leads to the runs.
          <a key={runId} href={to.run(runId)} class={look.kind} tabindex={-1}>
            <title>{`${look.word}${durationMs === null ? '' : ` after ${formatDuration(durationMs)}`}`}</title>
            <rect class="tick-area" x={index * WIDTH} y="0" width={WIDTH} height={HEIGHT} />
            <rect x={index * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height} rx="1" />
          </a>
        );
      })}
    </svg>
  );
}

/** `last 20 runs: 18 succeeded, 2 failed`. */
function ticksText(recent: NonNullable<Workflow['recent']>): string {
  const counts = new Map<string, number>();
  for (const { status } of recent) {
    const { word } = runLook(status);
    counts.set(word, (counts.get(word) ?? 0) + 1);
  }
  const parts = Array.from(counts, ([word, count]) => `${count} ${word}`);
  return `last ${recent.length === 1 ? 'run' : `${recent.length} runs`}: ${parts.join(', ')}`;
}
