import { useRef } from 'preact/hooks';
import { formatDuration, shortId } from '#render/text.ts';
import type { RunHead, RunSummary, StepView } from '#run-view/api/types.ts';
import { type Fact, FactList, StatusIcon } from '#run-view/components.ts';
import { runLook, stepLook } from '#run-view/texts.ts';
import { to } from '../../api/address.ts';
import { compareParams, compareSteps, isChanged, type StepComparison } from '../../data/compare-runs.ts';
import { useResource } from '../../data/resource.ts';
import { readEarlier } from '../../data/shown-run.ts';
import { LoadingOrProblem } from '../../parts/problem-box.tsx';
import { useQuery } from '../../parts/screen.tsx';
import { momentText } from '../../parts/time.tsx';
import { useDrawnRows } from '../../parts/virtual-list.tsx';
import { hrefOfStep } from './run-address.ts';

/** In pixels, as in the style sheet. */
const rowHeight = matchMedia('(max-width: 640px)').matches ? 60 : 36;

/** A run beside an earlier one of its workflow, by default the last finished one. */
export function RunComparison({ head, steps }: { head: RunHead; steps: readonly StepView[] }) {
  const [query, change] = useQuery();
  const wanted = query['with'] ?? '';
  const { value, problem, refresh } = useResource(() => readEarlier(head, wanted), [head.runId, wanted]);
  if (value === null) return <LoadingOrProblem problem={problem} retry={refresh} />;
  if (value.chosen === null) return <p class="note">There is no earlier run of this workflow that has finished.</p>;
  return (
    <div class="comparison">
      <label>
        Compared with{' '}
        <select value={value.chosen.runId} onChange={(event) => change({ with: event.currentTarget.value })}>
          {value.runs.map((run) => (
            <option key={run.runId} value={run.runId}>
              {`${momentText(run.createdAt)} · ${runLook(run.status).word} · ${shortId(run.runId)}`}
            </option>
          ))}
        </select>{' '}
        <a href={to.run(value.chosen.runId)}>Open</a>
      </label>
      <Whole head={head} earlier={value.chosen} />
      <Steps rows={compareSteps(steps, value.chosen)} />
    </div>
  );
}

/** The differences of the runs as a whole. */
function Whole({ head, earlier }: { head: RunHead; earlier: RunSummary }) {
  const longerMs =
    head.durationMs === null || earlier.durationMs === null ? null : head.durationMs - earlier.durationMs;
  const status = runLook(head.status).word;
  const change = earlier.status === head.status ? 'as then' : `then ${runLook(earlier.status).word}`;
  return (
    <FactList
      facts={[
        ['Status', `${status}, ${change}`],
        ['Duration', longerMs !== null && `${formatDuration(head.durationMs ?? 0)}, ${differenceText(longerMs)}`],
        ...compareParams(head, earlier).map(
          ({ name, value, before }): Fact => [
            name,
            <>
              <code>{value ?? 'not given'}</code>, then <code>{before ?? 'not given'}</code>
            </>,
          ],
        ),
      ]}
    />
  );
}

function Steps({ rows }: { rows: readonly StepComparison[] }) {
  const area = useRef<HTMLDivElement>(null);
  const { first, last, before, after } = useDrawnRows(area, rows.length, rowHeight);
  return (
    <div class="scroll rows" ref={area}>
      <table class="compared" aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">This run</th>
            <th scope="col">Then</th>
            <th scope="col">Difference</th>
          </tr>
        </thead>
        <tbody>
          {before > 0 && <tr style={{ height: `${before}px` }} />}
          {rows.slice(first, last).map((row, index) => (
            <tr key={row.name} class={isChanged(row) ? 'changed' : ''} aria-rowindex={first + index + 2}>
              <th scope="row">
                <a href={hrefOfStep(row.name)}>
                  <bdi>{row.name}</bdi>
                </a>
              </th>
              <Result step={row.step} />
              <Result step={row.before} />
              <td>{row.longerMs === null ? '' : differenceText(row.longerMs)}</td>
            </tr>
          ))}
          {after > 0 && <tr style={{ height: `${after}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

function Result({ step }: { step: StepComparison['step'] }) {
  if (step === null) return <td class="quiet">no such step</td>;
  const look = stepLook(step.status);
  return (
    <td>
      <StatusIcon look={look} label={look.word} /> {step.durationMs === null ? '' : formatDuration(step.durationMs)}
    </td>
  );
}

/** Durations have a precision of a tenth of a second; smaller differences count as none. */
function differenceText(longerMs: number): string {
  if (Math.abs(longerMs) < 100) return 'as long';
  return `${formatDuration(Math.abs(longerMs))} ${longerMs > 0 ? 'longer' : 'shorter'}`;
}
