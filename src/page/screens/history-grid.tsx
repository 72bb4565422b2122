import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { formatDuration, shortId } from '#render/text.ts';
import type { WorkflowGrid } from '#run-view/api/types.ts';
import { StatusIcon } from '#run-view/status-icon.tsx';
import { runLook, stepLook } from '#run-view/status-look.ts';
import { to } from '../api/address.ts';
import { cellStatus, median } from '../data/workflows/workflow-filter.ts';
import { momentText } from '../parts/time.tsx';
import { useDrawnRows } from '../parts/virtual-list.tsx';

const BAR_HEIGHT = 36;

type GridRun = WorkflowGrid['runs'][number];

/** The last runs of a workflow as columns, the newest at the right, with the status of each step. */
export function HistoryGrid({ grid }: { grid: WorkflowGrid }): JSX.Element {
  const runs = grid.runs.toReversed();
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? []);
  const middle = median(durations);
  const longest = Math.max(1, ...durations);
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, last, before, after } = useDrawnRows(body, grid.steps.length);
  return (
    <section class="card grid-area" tabIndex={0} aria-label="Runs and their steps">
      <table class="grid" aria-rowcount={grid.steps.length + 1}>
        <caption>
          {runs.length === 1 ? '1 run' : `${runs.length} runs`}
          {middle !== null && `, median ${formatDuration(middle)}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Duration</th>
            {runs.map((run) => (
              <th key={run.runId} scope="col">
                <RunBar run={run} longest={longest} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {before > 0 && <tr style={{ height: `${before}px` }} />}
          {grid.steps.slice(first, last).map((step, index) => (
            <tr key={step} data-row={first + index} aria-rowindex={first + index + 2}>
              <th scope="row">
                <bdi>{step}</bdi>
              </th>
              {runs.map((run) => (
                <td key={run.runId}>
                  <Cell run={run} step={step} status={cellStatus(run.cells, first + index)} />
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <tr style={{ height: `${after}px` }} />}
        </tbody>
      </table>
    </section>
  );
}

function RunBar({ run, longest }: { run: GridRun; longest: number }): JSX.Element {
  const { runId, status, durationMs, createdAt } = run;
  const look = runLook(status);
  const height = Math.max(3, (BAR_HEIGHT * (durationMs ?? longest)) / longest);
  const took = durationMs === null ? '' : ` after ${formatDuration(durationMs)}`;
  return (
    <a class={look.kind} href={to.run(runId)} title={`${momentText(createdAt)}: ${look.word}${took}`}>
      <svg width="16" height={BAR_HEIGHT} role="img" aria-label={`${shortId(runId)}: ${look.word}${took}`}>
        <rect class="bar" x="3" y={BAR_HEIGHT - height} width="10" height={height} rx="1" />
      </svg>
    </a>
  );
}

function Cell(props: { run: GridRun; step: string; status: ReturnType<typeof cellStatus> }): JSX.Element | null {
  if (props.status === null) return null;
  const look = stepLook(props.status);
  const name = `${props.step}: ${look.word}`;
  return (
    <a href={to.runOfStep(props.run.runId, props.step)} title={`${name}, ${momentText(props.run.createdAt)}`}>
      <StatusIcon look={look} label={look.word} />
    </a>
  );
}
