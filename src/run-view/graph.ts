/** The drawing of a graph: its layout, its boxes and its edges. */

export { type PlacedNode, PlainBox, StepBox } from './graph/graph-box.tsx';
export {
  type Box,
  criticalEdges,
  type DrawnGraph,
  drawnGraph,
  Edges,
  GraphOverview,
  Item,
  type NamedGraph,
  type NumberedGraph,
  numberedGraph,
  stepBoxes,
} from './graph/graph-drawing.tsx';
export { type GraphLabel, graphItems } from './graph/graph-items.ts';
export { type GraphLayout, type GraphShape, layOutGraph } from './graph/graph-layout.ts';
