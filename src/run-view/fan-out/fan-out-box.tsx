import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { StepView } from '../api/types.ts';
import { Frame, type PlacedNode, StepBox } from '../graph/graph-box.tsx';
import { type Box, cellAt, Squares } from '../graph/graph-drawing.tsx';
import { drawing, type Grid } from '../graph/graph-items.ts';
import { countsText, presentLook } from '../status.tsx';
import { FOLD_ROOM, type Instance, instanceStep, stepTitle, type Unfolding } from '../texts.ts';

type BoxProps = {
  readonly node: PlacedNode;
  readonly step: StepView;
  readonly href: string;
  readonly hrefOfInstance: (key: string) => string;
  readonly choose: (key: string) => void;
  readonly selected: string | null;
  readonly isCritical: boolean;
  readonly unfolding: Unfolding;
};

/** A fan-out in a graph, which can be expanded to its instances. */
export function FanOutBox({ node, step, href, hrefOfInstance, choose, selected, isCritical, unfolding }: BoxProps) {
  const { items = [] } = step;
  const { instances: grid } = node;
  const isSelected = selected === node.name || items.some(({ name }) => name === selected);
  return (
    <>
      <StepBox node={node} step={step} href={href} isSelected={isSelected} isCritical={isCritical} room={FOLD_ROOM} />
      {items.length > 0 && <Fold node={node} step={step} unfolding={unfolding} />}
      {grid?.isNamed === true &&
        items.map((instance, index) => (
          <NamedInstance
            key={instance.key}
            instance={instance}
            grid={grid}
            index={index}
            href={hrefOfInstance(instance.key)}
            isSelected={instance.name === selected}
          />
        ))}
      {grid?.isNamed === false && (
        <SmallInstances items={items} grid={grid} hrefOf={hrefOfInstance} choose={choose} selected={selected} />
      )}
    </>
  );
}

function Fold({ node, step, unfolding }: Pick<BoxProps, 'node' | 'step' | 'unfolding'>) {
  const toggle = () => unfolding.toggle(step.name);
  return (
    <g
      class="fold"
      role="button"
      tabindex={0}
      aria-expanded={node.instances !== null}
      aria-label={`Instances of ${step.name}`}
      onClick={toggle}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' && event.key !== ' ') return;
        event.preventDefault();
        event.stopPropagation();
        toggle();
      }}
    >
      <rect class="fold-area" x={node.width - FOLD_ROOM} y="7" width="24" height="28" rx="5" />
      <path
        d={node.instances === null ? 'M0 -4l5 4-5 4z' : 'M-2 -2h9l-4.5 5z'}
        transform={`translate(${node.width - 18} 21)`}
      />
    </g>
  );
}

type CellProps = { instance: Instance; grid: Grid; index: number; href: string; isSelected: boolean };

function NamedInstance({ instance, grid, index, href, isSelected }: CellProps) {
  const cell = cellOf(grid, index);
  const node = { number: index, name: instance.name, needs: [], form: 'named', instances: null, ...cell } as const;
  return (
    <svg {...cell}>
      <StepBox node={node} step={instanceStep(instance)} name={instance.key} href={href} isSelected={isSelected} />
    </svg>
  );
}

/** The cell of an instance in the box of its fan-out. */
function cellOf(grid: Grid, index: number): Box {
  return { ...cellAt(grid, index, drawing.boxHeight), width: grid.cellWidth, height: grid.cellHeight };
}

type SmallProps = {
  readonly items: readonly Instance[];
  readonly grid: Grid;
  readonly hrefOf: (key: string) => string;
  readonly choose: (key: string) => void;
  readonly selected: string | null;
};

/** Many instances, one path for each status. A click selects one, and so does a link that keys move. */
function SmallInstances({ items, grid, hrefOf, choose, selected }: SmallProps) {
  const [moved, setMoved] = useState<number | null>(null);
  const cell = useRef<SVGSVGElement>(null);
  // Each instance has its own element, so that screen readers announce it. Focused before the next key.
  useLayoutEffect(() => {
    if (moved !== null) cell.current?.querySelector('a')?.focus();
  }, [moved]);
  const chosen = items.findIndex(({ name }) => name === selected);
  const at = moved ?? Math.max(0, chosen);
  const instance = items[at];
  const onKeyDown = (event: KeyboardEvent) => {
    const to = neighbourIn(event.key, { at, columns: grid.columns, last: items.length - 1 });
    if (to === null) return;
    event.preventDefault();
    event.stopPropagation();
    setMoved(to);
  };
  const onClick = ({ clientX, clientY, currentTarget, target }: MouseEvent & { currentTarget: SVGGElement }) => {
    if (target instanceof Element && target.closest('a') !== null) return;
    const point = new DOMPoint(clientX, clientY).matrixTransform(currentTarget.getScreenCTM()?.inverse());
    const { x: left, y: top } = cellOf(grid, 0);
    const { cellGap } = drawing;
    const column = Math.floor((point.x - left) / (grid.cellWidth + cellGap));
    const row = Math.floor((point.y - top) / (grid.cellHeight + cellGap));
    const key = items[row * grid.columns + column]?.key;
    if (key === undefined || column < 0 || column >= grid.columns) return;
    setMoved(null);
    choose(key);
  };
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the keyboard has the link.
    <g class="squares" onClick={onClick} onKeyDown={onKeyDown}>
      <title>{countsText(items.map(presentLook))}</title>
      <Squares
        squares={items.map((item, index) => ({ ...cellOf(grid, index), kind: presentLook(item).kind }))}
        name="cells"
      />
      {instance !== undefined && (
        <svg ref={cell} {...cellOf(grid, at)} overflow="visible">
          <a
            key={instance.key}
            href={hrefOf(instance.key)}
            class={[presentLook(instance).kind, at === chosen && 'selected'].filter(Boolean).join(' ')}
          >
            <title>{stepTitle(instanceStep(instance), [])}</title>
            <Frame name="cell" radius={0} width={grid.cellWidth} height={grid.cellHeight} />
          </a>
        </svg>
      )}
    </g>
  );
}

type Cell = { readonly at: number; readonly columns: number; readonly last: number };

/** The number of the instance that a key moves to, the same one at an edge; null for any other key. */
function neighbourIn(key: string, { at, columns, last }: Cell): number | null {
  const steps: Readonly<Record<string, number>> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
  };
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  const step = steps[key];
  if (step === undefined) return null;
  return at + step < 0 || at + step > last ? at : at + step;
}
