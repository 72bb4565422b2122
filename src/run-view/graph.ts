/** The drawing of a graph: its layout, its boxes and its edges. */

export { type PlacedNode, PlainBox, StepBox } from './graph/graph-box.tsx';
export {
  type DrawnGraph,
  Edges,
  edgePath,
  edgesBetween,
  GraphOverview,
  Item,
  layOutColumns,
  type NamedGraph,
  type NumberedGraph,
  numberedGraph,
  positionIn,
  sizeIn,
} from './graph/graph-drawing.tsx';
export { type GraphLabel, graphItems } from './graph/graph-items.ts';
export { type GraphLayout, type GraphShape, layOutGraph } from './graph/graph-layout.ts';
