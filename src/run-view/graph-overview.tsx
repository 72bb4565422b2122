import type { JSX } from 'preact';
import { type DrawnGraph, positionIn, sizeIn } from './graph-drawing.tsx';
import type { StepView } from './view.ts';

type OverviewProps = {
  readonly drawn: DrawnGraph;
  /** The status of a step by its number. */
  readonly statusOf: (step: number) => StepView['status'];
  /** The steps that match the search; null: no search. */
  readonly found?: ReadonlySet<number> | null;
};

/** All steps as plain shapes, one path for each status, fast enough for ten thousand. */
export function GraphOverview({ drawn, statusOf, found = null }: OverviewProps): JSX.Element {
  return (
    <>
      {Array.from(
        pathsByStatus(drawn, statusOf, () => true),
        ([status, path]) => (
          <path key={status} class={`cells ${status}`} d={path} />
        ),
      )}
      {found !== null &&
        Array.from(
          pathsByStatus(drawn, statusOf, (step) => found.has(step)),
          ([status, path]) => <path key={`found ${status}`} class={`cells found ${status}`} d={path} />,
        )}
    </>
  );
}

function pathsByStatus(
  { items, layout }: DrawnGraph,
  statusOf: OverviewProps['statusOf'],
  isWanted: (step: number) => boolean,
): ReadonlyMap<string, string> {
  const paths = new Map<string, string[]>();
  items.forEach((item, index) => {
    const box = layout.boxes[index] ?? { x: 0, y: 0 };
    const { width, height } = sizeIn(item);
    item.nodes.forEach((step, place) => {
      if (!isWanted(step)) return;
      const { x, y } = positionIn(item, place);
      const status = statusOf(step);
      const path = paths.get(status) ?? [];
      path.push(`M${box.x + x} ${box.y + y}h${width}v${height}h-${width}z`);
      paths.set(status, path);
    });
  });
  return new Map(Array.from(paths, ([status, path]) => [status, path.join('')]));
}
