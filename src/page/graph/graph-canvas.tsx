import { type ReadonlySignal, useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useMemo, useRef } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { StepView } from '#run-view/api/types.ts';
import {
  type Box,
  criticalEdges,
  type DrawnGraph,
  Edges,
  GraphOverview,
  Item,
  type PlacedNode,
  stepBoxes,
} from '#run-view/graph.ts';
import { Button } from '../parts/controls.tsx';
import { type Arrow, neighbourOf } from './neighbours.ts';
import { followSvgLink } from './svg-link.ts';
import { useWindow } from './use-window.ts';
import { fittingScale, readableScale, showPart, type Zoom, zoomable } from './zoom.ts';

/** Above this number of steps, or below this scale, steps are drawn as plain shapes. */
const MAX_BOXES = 1000;
const SMALLEST_BOXES = 0.35;
const ARROW = /^Arrow(?:Right|Left|Up|Down)$/;

type CanvasProps = {
  /** Null while the layout is computed. */
  readonly drawn: DrawnGraph | null;
  readonly drawNode: (node: PlacedNode) => ComponentChildren;
  /** The statuses of a run, by step number; `changes` changes with them. */
  readonly run?: { readonly statusOf: (step: number) => StepView['status']; readonly changes: ReadonlySignal<unknown> };
  readonly selected?: string | null;
  readonly critical?: ReadonlySet<string>;
};

/** The steps of a graph with their dependencies. */
export function GraphCanvas({ drawn, ...props }: CanvasProps) {
  if (drawn === null) return <div class="canvas" aria-busy="true" />;
  return <Canvas drawn={drawn} {...props} />;
}

type DrawnProps = CanvasProps & { readonly drawn: DrawnGraph };

function Canvas({ drawn, drawNode, run, selected = null, critical }: DrawnProps) {
  const area = useRef<HTMLElement>(null);
  const svg = useRef<SVGSVGElement>(null);
  const zoom = useRef<Zoom | null>(null);
  /** The initial scale of the drawing. */
  const usualScale = useRef<number | undefined>(undefined);
  const find = useSignal('');
  const { route } = useLocation();
  const { layout, graph } = drawn;
  const isLarge = graph.stepCount > MAX_BOXES;
  const boxes = useMemo(() => stepBoxes(drawn), [drawn]);
  const seen = useWindow(area, zoom, drawn);
  useLayoutEffect(() => {
    if (area.current === null || svg.current === null) return;
    const listening = new AbortController();
    const before = zoom.current?.scale();
    const wasChosen = before !== usualScale.current;
    usualScale.current = (isLarge ? fittingScale : readableScale)(area.current, layout);
    zoom.current = zoomable(area.current, svg.current, layout, listening.signal);
    zoom.current.zoomTo(wasChosen && before !== undefined ? before : usualScale.current);
    seen.measure();
    return () => listening.abort();
  }, [drawn]);
  const chosen = selected === null ? -1 : graph.names.indexOf(selected);
  const reveal = (step: number, scale?: number) => {
    const box = boxes[step];
    if (box === undefined) return;
    if (scale !== undefined) zoom.current?.zoomTo(scale);
    if (area.current !== null && svg.current !== null)
      showPart(area.current, svg.current, box, zoom.current?.scale() ?? 1);
    seen.measure();
  };
  useEffect(() => reveal(chosen), [chosen, drawn]);
  const isPlain = isLarge || seen.window.value.scale < SMALLEST_BOXES;
  const areBoxesDrawn = seen.window.value.scale >= SMALLEST_BOXES;
  const onKeyDown = (event: KeyboardEvent) => {
    const from = stepOf(event.target);
    if (from === null || !ARROW.test(event.key)) return;
    const to = neighbourOf(drawn, boxes, from, event.key as Arrow);
    if (to === null) return;
    event.preventDefault();
    reveal(to);
    // A box outside of the window is drawn in the next frame.
    requestAnimationFrame(() => area.current?.querySelector<SVGAElement>(`[data-step="${to}"] a`)?.focus());
  };
  const showFailed = () => {
    const failed = boxes.findIndex((_, step) => run?.statusOf(step) === 'failed');
    if (failed !== -1) reveal(failed, 1);
  };
  const wanted = find.value.trim().toLowerCase();
  const found = useMemo(() => {
    if (wanted === '') return null;
    return new Set(graph.names.flatMap((name, at) => (name.toLowerCase().includes(wanted) ? [at] : [])));
  }, [wanted, graph]);
  const path = useMemo(() => pathOf(drawn, critical, chosen), [drawn, critical, chosen]);
  const edges = useMemo(() => <Edges layout={layout} path={path} />, [layout, path]);
  const inside = isLarge ? seen.window.value : null;
  const allBoxes = useMemo(
    () => <Boxes drawn={drawn} drawNode={drawNode} inside={inside} found={found} />,
    [drawn, drawNode, inside, found],
  );
  return (
    <div class="graph-area">
      <div class="zoom">
        <input
          type="search"
          class="find-step"
          placeholder="Find a step"
          aria-label="Find a step in the graph"
          value={find.value}
          onInput={(event) => (find.value = event.currentTarget.value)}
          onKeyDown={(event) => {
            const [first] = found ?? [];
            if (event.key === 'Enter' && first !== undefined) reveal(first, Math.max(1, zoom.current?.scale() ?? 1));
          }}
        />
        <Button class="plain" text="Fit" onClick={() => [zoom.current?.fit(), seen.measure()]} />
        <Button class="plain" text="100 %" onClick={() => [zoom.current?.zoomTo(1), seen.measure()]} />
        {run !== undefined && <Button class="plain" text="Failed" onClick={showFailed} />}
      </div>
      <section
        class={`canvas ${found === null ? '' : 'finding'}`}
        ref={area}
        tabIndex={0}
        aria-label="Graph"
        onClick={(event) => followSvgLink(event, route)}
        onKeyDown={onKeyDown}
        onScroll={seen.measureSoon}
        onWheel={seen.measureSoon}
      >
        <svg class="graph" ref={svg} viewBox={`0 0 ${layout.width} ${layout.height}`}>
          {edges}
          {isPlain && run !== undefined && <LiveOverview drawn={drawn} run={run} found={found} />}
          {(!isPlain || areBoxesDrawn) && allBoxes}
        </svg>
      </section>
    </div>
  );
}

/** The number of the step whose box is focused. */
function stepOf(target: EventTarget | null): number | null {
  const box = target instanceof Element ? target.closest<SVGElement>('[data-step]') : null;
  return box === null ? null : Number(box.dataset['step']);
}

type BoxesProps = {
  readonly drawn: DrawnGraph;
  readonly drawNode: (node: PlacedNode) => ComponentChildren;
  /** Only steps in this area are drawn; null: all. */
  readonly inside: Box | null;
  readonly found: ReadonlySet<number> | null;
};

function Boxes({ drawn, drawNode, inside, found }: BoxesProps) {
  const boxes = useMemo(() => stepBoxes(drawn), [drawn]);
  const isIn = (box: Box | undefined) => inside === null || (box !== undefined && overlaps(inside, box));
  const isShown = (step: number) => isIn(boxes[step]);
  return (
    <>
      {drawn.items.map(
        (item, index) =>
          isIn({ ...item, ...drawn.layout.boxes[index] } as Box) && (
            <Item key={item.nodes[0]} drawn={drawn} index={index} drawNode={drawNode} isShown={isShown} found={found} />
          ),
      )}
    </>
  );
}

function overlaps(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;
}

type OverviewProps = Pick<DrawnProps, 'drawn'> & {
  readonly run: NonNullable<CanvasProps['run']>;
  readonly found: ReadonlySet<number> | null;
};

/** Redrawn when statuses change, at most four times a second. */
function LiveOverview({ drawn, run, found }: OverviewProps) {
  run.changes.value;
  return <GraphOverview drawn={drawn} statusOf={run.statusOf} found={found} />;
}

/** The edges of the critical path, and those of the selected step if no others are drawn. */
function pathOf(drawn: DrawnGraph, critical: ReadonlySet<string> | undefined, chosen: number): string {
  if (drawn.layout.ends.length === 0 && chosen !== -1) return directPath(drawn, chosen);
  return critical === undefined || critical.size === 0 ? '' : criticalEdges(drawn, critical);
}

/** Straight lines between a step and its neighbours. */
function directPath(drawn: DrawnGraph, step: number): string {
  const boxes = stepBoxes(drawn);
  const middle = ({ x, y, width, height }: Box) => `${x + width / 2} ${y + height / 2}`;
  const own = boxes[step];
  const others = [...(drawn.graph.dependencies[step] ?? []), ...(drawn.graph.dependents[step] ?? [])];
  return others
    .flatMap((other) => boxes[other] ?? [])
    .map((box) => (own === undefined ? '' : `M${middle(own)}L${middle(box)}`))
    .join('');
}
