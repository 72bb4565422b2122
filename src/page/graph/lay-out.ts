import type { GraphLayout, GraphShape } from '../../render/report/graph/graph-layout.ts';
import address from './worker.ts?worker&url';

/** The part of Trusted Types that is used here; only some browsers have them. */
type TrustedTypes = {
  createPolicy(
    name: string,
    rules: { createScriptURL: (url: string) => string },
  ): { createScriptURL(url: string): string };
};

type Answer = { readonly id: number; readonly layout: GraphLayout | null };

let worker: Worker | null = null;
let lastId = 0;

/** Starts the worker, so that it is there when a graph comes. */
export function prepareLayout(): void {
  worker ??= startWorker();
}

/** Lays out a graph beside the page, which stays quick; null: too large to be followed in a drawing. */
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

/** The one address that the policy of the page lets become a script. */
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
