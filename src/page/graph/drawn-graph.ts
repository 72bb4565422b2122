import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import {
  type DrawnGraph,
  drawnGraph,
  type GraphLabel,
  type GraphLayout,
  type GraphShape,
  graphItems,
  type NamedGraph,
  numberedGraph,
} from '#run-view/graph.ts';
import address from './worker.ts?worker&url';

/** Returns a graph with its layout, which is computed again when steps, edges or `version` change; null: not yet. */
export function useDrawnGraph(
  graph: NamedGraph,
  labelOf: (name: string) => GraphLabel,
  version = '',
): DrawnGraph | null {
  const drawn = useSignal<DrawnGraph | null>(null);
  const key = useMemo(
    () => JSON.stringify([graph.nodes.map(({ name }) => name), graph.edges, version]),
    [graph, version],
  );
  useEffect(() => {
    let isOver = false;
    drawGraph(graph, labelOf).then((result) => {
      if (!isOver) drawn.value = result;
    });
    return () => {
      isOver = true;
    };
  }, [key]);
  return drawn.value;
}

/** Lays out the steps of a graph. The detail of a label is the longest text that can appear below its name. */
async function drawGraph(named: NamedGraph, labelOf: (name: string) => GraphLabel): Promise<DrawnGraph> {
  const graph = numberedGraph(named);
  const { items, shape } = graphItems(graph, graph.names.map(labelOf));
  const layout = await layOut({ ...shape, sizes: shape.sizes.map(({ width, height }) => ({ width, height })) });
  return drawnGraph(graph, items, layout);
}

/** The used part of Trusted Types, which only some browsers support. */
type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
};

type Answer = { readonly id: number; readonly layout: GraphLayout | null };

let worker: Worker | null = null;
let lastId = 0;

/** Starts the worker, so that it is ready for the first graph. */
export function prepareLayout(): Worker {
  worker ??= startWorker();
  return worker;
}

/** Lays out a graph in a worker, so that the page stays responsive; null if the graph is too large to draw. */
function layOut(shape: GraphShape): Promise<GraphLayout | null> {
  const asked = prepareLayout();
  const id = ++lastId;
  const start = performance.now();
  return new Promise((resolve, reject) => {
    const onMessage = ({ data }: MessageEvent<Answer>) => {
      if (data.id !== id) return;
      asked.removeEventListener('message', onMessage);
      performance.measure('graph-layout', { start });
      resolve(data.layout);
    };
    asked.addEventListener('message', onMessage);
    asked.addEventListener('error', () => reject(new Error('the graph could not be laid out')), { once: true });
    asked.postMessage({ id, shape });
  });
}

/** The only address that the policy of the page accepts as a script. */
function startWorker(): Worker {
  const types = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes;
  const policy = types?.createPolicy('page-worker', {
    createScriptURL: (url) => {
      if (url !== address) throw new TypeError(`not the worker of the page: ${url}`);
      return url;
    },
  });
  return new Worker(policy?.createScriptURL(address) ?? address, { type: 'module' });
}
