import type { GraphLayout, GraphShape } from '#run-view/graph/graph-layout.ts';
import address from './worker.ts?worker&url';

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
export function prepareLayout(): void {
  worker ??= startWorker();
}

/** Lays out a graph in a worker, so that the page stays responsive; null if the graph is too large to draw. */
export function layOut(shape: GraphShape): Promise<GraphLayout | null> {
  worker ??= startWorker();
  const asked = worker;
  lastId++;
  const id = lastId;
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
