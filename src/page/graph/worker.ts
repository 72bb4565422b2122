import { type GraphShape, layOutGraph } from '../../render/report/graph/graph-layout.ts';

/** A layout is asked for by number and answered with it. */
export type LayoutRequest = { readonly id: number; readonly shape: GraphShape };

addEventListener('message', ({ data: { id, shape } }: MessageEvent<LayoutRequest>) => {
  postMessage({ id, layout: layOutGraph(shape) });
});
