import { type GraphShape, layOutGraph } from '#run-view/graph.ts';

/** A layout request has a number; the response has the same one. */
export type LayoutRequest = { readonly id: number; readonly shape: GraphShape };

addEventListener('message', ({ data: { id, shape } }: MessageEvent<LayoutRequest>) => {
  postMessage({ id, layout: layOutGraph(shape) });
});
