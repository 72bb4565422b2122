import { entityTag, prefers } from '../reply/send.ts';
import type { Handler, Reply, Route } from '../route.ts';

const get = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;

/** The options of the routes: `basePath` begins with a slash and ends without one, or is empty. */
export type DocumentOptions = {
  readonly basePath: string;
  /** The web page; null if there is none. */
  readonly page: Reply | null;
};

/** Returns the routes of the OpenAPI document, as JSON and as a page, and `/`. */
export function documentRoutes({ basePath, page }: DocumentOptions): readonly Route[] {
  // Few daemons are asked for their description, so the first request loads it.
  const load = async () => (await import('./document.ts')).openApiDocument(basePath);
  const json = async () => ({ text: `${JSON.stringify(await load())}\n`, headers: {} });
  const html = async () => (await import('./docs-page.ts')).docsPage(await load());
  return [
    { ...get, path: '/api/openapi.json', handle: once(json) },
    { ...get, path: '/api/docs', handle: once(html) },
    { ...get, path: '/', handle: root(basePath, page), access: page === null ? 'read' : 'page' },
  ];
}

/** Shows the page to a browser, and redirects others to the description, temporarily so that it is not cached. */
function root(basePath: string, page: Reply | null): Handler {
  const description: Reply = {
    status: 307,
    headers: { Location: `${basePath}/api/docs`, Vary: 'Accept' },
    body: null,
  };
  return ({ headers }) =>
    page !== null && prefers(headers.accept, ['text/html'], ['application/json']) ? page : description;
}

type Text = { readonly text: string; readonly headers: Readonly<Record<string, string>> };

/** Creates a response at the first request and keeps it, since it does not change while the daemon runs. */
function once(make: () => Promise<Text>): Handler {
  let reply: Promise<Reply> | null = null;
  const create = async (): Promise<Reply> => {
    const { text, headers } = await make();
    const body = Buffer.from(text);
    return { status: 200, headers: { ETag: entityTag(body), 'Cache-Control': 'private, no-cache', ...headers }, body };
  };
  return () => {
    reply ??= create().catch((error) => {
      reply = null;
      throw error;
    });
    return reply;
  };
}
