import type { RunView } from '#run-view/api/types.ts';
import {
  beginning,
  StepRow,
  startedInstances,
  Timeline,
  TimelineLegend,
  timelineRows,
  timeScale,
} from '#run-view/components.ts';
import {
  criticalEdges,
  drawnGraph,
  Edges,
  GraphOverview,
  graphItems,
  Item,
  layOutGraph,
  type NumberedGraph,
  numberedGraph,
  StepBox,
} from '#run-view/graph.ts';
import { counted, countedName, countsText, presentLook, stepDetail } from '#run-view/texts.ts';
import type { ReportStep, ReportView } from './report-parts.tsx';

/** Above this number of boxes they are drawn without names and links. */
const MAX_BOXES = 1000;
const MAX_ROWS = 1000;
const MAX_INSTANCE_ROWS = 500;
/** Above this number of rows they scroll separately, so that the following parts are easy to reach. */
const MAX_OPEN_ROWS = 80;

/** What both drawings show: the steps, and the names of those on the critical path. */
type Drawn = { readonly steps: readonly ReportStep[]; readonly critical: ReadonlySet<string> };

/** The graph of the steps, followed by the handlers; null if the workflow is lost. */
export function ReportGraph({ view, steps, critical }: Drawn & { view: RunView }) {
  if (view.graph === null) return null;
  const handlers = steps.filter(({ isHandler }) => isHandler);
  return (
    <section id="graph">
      <h2>Graph</h2>
      <div class="card">
        <Drawing graph={numberedGraph(view.graph)} steps={steps} critical={critical} />
        {handlers.length > 0 && (
          <ul class="step-rows then" aria-label="Handlers">
            {handlers.map(({ step, anchor }) => (
              <StepRow key={anchor} step={step} href={`#${anchor}`} isSelected={false} now={0} />
            ))}
          </ul>
        )}
      </div>
    </section>
  );
}

function Drawing({ graph, steps, critical }: Drawn & { graph: NumberedGraph }) {
  const labels = steps.slice(0, graph.stepCount).map(({ step }) => {
    return { name: countedName(step), detail: stepDetail(step) };
  });
  const { items: boxes, shape } = graphItems(graph, labels);
  const drawn = drawnGraph(graph, boxes, layOutGraph(shape));
  const { layout, items } = drawn;
  const isPlain = items.length > MAX_BOXES || (layout.ends.length === 0 && items.length < steps.length);
  return (
    <div class="canvas" tabIndex={0} role="region" aria-label="Graph">
      <svg
        class="graph"
        style={{ '--width': `${layout.width}px` }}
        viewBox={`0 0 ${layout.width} ${layout.height}`}
        role="group"
        aria-label={`Graph of ${counted(graph.stepCount, 'step')}`}
      >
        <Edges layout={layout} path={criticalEdges(drawn, critical)} />
        {isPlain ? (
          <GraphOverview drawn={drawn} statusOf={(number) => steps[number]?.step.status ?? 'pending'} />
        ) : (
          items.map((item, index) => (
            <Item
              key={item.nodes[0]}
              drawn={drawn}
              index={index}
              drawNode={(node) => {
                const { step, anchor } = steps[node.number] ?? {};
                if (step === undefined) return null;
                return <StepBox node={node} step={step} href={`#${anchor}`} isCritical={critical.has(node.name)} />;
              }}
              aboutBlock={(nodes) => {
                const failed = nodes.filter((node) => steps[node]?.step.status === 'failed').length;
                return failed === 0 ? '' : ` · ${failed} failed`;
              }}
            />
          ))
        )}
      </svg>
    </div>
  );
}

/** The timeline of the steps; null if none has started. */
export function ReportTimeline({ report: { view, now }, steps, critical }: Drawn & { report: ReportView }) {
  const rows = timelineRows(view);
  const first = rows[0];
  if (first === undefined) return null;
  const start = view.run.startedAt === null ? beginning(first.step) : Date.parse(view.run.startedAt);
  const scale = timeScale(start, view.run.finishedAt === null ? now : Date.parse(view.run.finishedAt));
  const anchors = new Map(steps.map(({ step, anchor }) => [step.name, anchor]));
  const hrefOf = (name: string) => `#${anchors.get(name)}`;
  const left = rows.length - MAX_ROWS;
  const table = <Timeline rows={rows.slice(0, MAX_ROWS)} scale={scale} now={now} hrefOf={hrefOf} critical={critical} />;
  return (
    <section id="timeline">
      <h2>Timeline</h2>
      {rows.length > MAX_OPEN_ROWS ? (
        <div class="card tall" tabIndex={0} role="region" aria-label="Timeline">
          {table}
        </div>
      ) : (
        <div class="card scroll">{table}</div>
      )}
      {left > 0 && <p class="note">{counted(left, 'step')} more started later.</p>}
      {rows.slice(0, MAX_ROWS).map(({ step }) => {
        const instances = startedInstances(step);
        return (
          instances.length > 0 && (
            <details key={step.name} class="card instances">
              <summary>
                <bdi>{countedName(step)}</bdi>: {countsText((step.items ?? []).map(presentLook))}
              </summary>
              <Timeline
                rows={instances.slice(0, MAX_INSTANCE_ROWS)}
                scale={scale}
                now={now}
                hrefOf={hrefOf}
                critical={new Set()}
              />
              {instances.length > MAX_INSTANCE_ROWS && (
                <p class="note">{counted(instances.length - MAX_INSTANCE_ROWS, 'more instance')} started.</p>
              )}
            </details>
          )
        );
      })}
      <TimelineLegend />
    </section>
  );
}
