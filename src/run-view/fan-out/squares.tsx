import type { JSX } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { drawing, type Grid } from '../graph/graph-items.ts';
import { Frame } from '../graph-box.tsx';
import { presentLook } from '../status-look.ts';
import { stepTitle } from '../step-text.ts';
import { countsText, type Instance, instanceStep } from './instance.ts';

/** The cell of an instance in the box of its fan-out. */
export function cellAt(
  { columns, cellWidth, cellHeight }: Grid,
  index: number,
): { readonly x: number; readonly y: number } {
  const { padding, cellGap, boxHeight } = drawing;
  return {
    x: padding + (index % columns) * (cellWidth + cellGap),
    y: boxHeight + Math.floor(index / columns) * (cellHeight + cellGap),
  };
}

type SquaresProps = {
  readonly items: readonly Instance[];
  readonly grid: Grid;
  readonly hrefOf: (key: string) => string;
  readonly choose: (key: string) => void;
  /** The name of the selected step or instance. */
  readonly selected: string | null;
};

/**
 * Many instances, one path for each status. A click selects one. For the keyboard one of them is a link, which the
 * arrow keys, Home and End move.
 */
export function Squares({ items, grid, hrefOf, choose, selected }: SquaresProps): JSX.Element {
  const [moved, setMoved] = useState<number | null>(null);
  const place = useRef<SVGSVGElement>(null);
  // Each instance has its own element, so that screen readers announce it. Focused before the next key.
  useLayoutEffect(() => {
    if (moved !== null) place.current?.querySelector('a')?.focus();
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
    const { x: left, y: top } = cellAt(grid, 0);
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
      <title>{countsText(items)}</title>
      {Array.from(pathsByKind(items, grid), ([kind, path]) => (
        <path key={kind} class={`cells ${kind}`} d={path} />
      ))}
      {instance !== undefined && (
        <svg ref={place} {...cellAt(grid, at)} width={grid.cellWidth} height={grid.cellHeight} overflow="visible">
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

type Place = { readonly at: number; readonly columns: number; readonly last: number };

/** The number of the instance that a key moves to, the same one at an edge; null for any other key. */
function neighbourIn(key: string, { at, columns, last }: Place): number | null {
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

function pathsByKind(items: readonly Instance[], grid: Grid): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  items.forEach((item, index) => {
    const { x, y } = cellAt(grid, index);
    const { kind } = presentLook(item);
    const square = `M${x} ${y}h${grid.cellWidth}v${grid.cellHeight}h-${grid.cellWidth}z`;
    paths.set(kind, (paths.get(kind) ?? '') + square);
  });
  return paths;
}
