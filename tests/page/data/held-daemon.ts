import { afterAll, beforeEach, vi } from 'vitest';
import type { RunHead } from '#run-view/api/types.ts';

type AnswerOptions = { readonly status?: number; readonly tag?: string; readonly cursor?: string };

/** A request of the page that waits for its response. */
export type HeldRequest = {
  readonly query: URLSearchParams;
  /** Sends a response; a body that is not a text is sent as JSON. */
  readonly answer: (body: unknown, options?: AnswerOptions) => void;
};

type Held = HeldRequest & { readonly method: string; readonly path: string };

const held: Held[] = [];
let onRequest = () => {};

/**
 * Replaces the browser and the daemon for the tests of a file, which decide when a response or an event arrives. Call
 * this before modules of the page are imported. Files share a process and its modules, and the client of the API keeps the
 * `fetch` that it found first: so these tests load modules of their own.
 */
export function holdDaemon(): void {
  vi.resetModules();
  const document = {
    baseURI: 'http://wf.test/',
    hidden: false,
    querySelector: () => null,
    addEventListener: () => {},
    removeEventListener: () => {},
  };
  vi.stubGlobal('document', document);
  vi.stubGlobal('EventSource', HeldStream);
  vi.stubGlobal('fetch', hold);
  beforeEach(() => {
    held.length = 0;
    HeldStream.opened.length = 0;
  });
  afterAll(() => {
    vi.unstubAllGlobals();
    vi.resetModules();
  });
}

/** Waits for the oldest request of a path, such as `GET /api/v2/runs`, that has no response yet. */
export async function requestOf(wanted: string): Promise<HeldRequest> {
  for (;;) {
    const found = held.findIndex(({ method, path }) => `${method} ${path}` === wanted);
    const [request] = found === -1 ? [] : held.splice(found, 1);
    if (request !== undefined) return request;
    await new Promise<void>((resolve) => {
      onRequest = resolve;
    });
  }
}

/** The number of requests that have no response yet. */
export function heldCount(): number {
  return held.length;
}

/** Sends an event to the last stream that the page has opened. */
export function sendEvent(name: string, data: unknown, lastEventId = ''): void {
  HeldStream.opened.at(-1)?.listeners.get(name)?.({ data: JSON.stringify(data), lastEventId });
}

/** The queries of all streams that the page has opened, and whether it has closed them. */
export function openedStreams(): readonly { readonly query: string; readonly isClosed: boolean }[] {
  return HeldStream.opened.map(({ query, isClosed }) => ({ query, isClosed }));
}

/** A run of the workflow `etl`. */
export function runHead(runId: string, more: Partial<RunHead> = {}): RunHead {
  const run: Partial<RunHead> = {
    runId,
    workflow: 'etl',
    status: 'running',
    createdAt: '2026-01-01T00:00:00Z',
    params: [],
    error: null,
    trigger: 'api',
    ...more,
  };
  return run as RunHead;
}

function hold(input: Request | URL, init?: RequestInit): Promise<Response> {
  const request = new Request(input, init);
  const { pathname, searchParams } = new URL(request.url);
  return new Promise((resolve) => {
    held.push({
      method: request.method,
      path: pathname,
      query: searchParams,
      answer: (body, { status = 200, tag = '', cursor = '' } = {}) => {
        const text = typeof body === 'string' ? body : JSON.stringify(body);
        const headers = { 'Content-Type': 'application/json', ETag: tag, 'WF-Cursor': cursor };
        resolve(new Response(text, { status, headers }));
      },
    });
    onRequest();
  });
}

class HeldStream {
  static readonly opened: HeldStream[] = [];
  readonly query: string;
  isClosed = false;
  readonly listeners = new Map<string, (event: { data: string; lastEventId: string }) => void>();

  constructor(address: URL) {
    this.query = address.search;
    HeldStream.opened.push(this);
  }

  addEventListener(name: string, handle: (event: { data: string; lastEventId: string }) => void): void {
    this.listeners.set(name, handle);
  }

  close(): void {
    this.isClosed = true;
  }
}
