import type { JsonObject } from '../../core/workflow.ts';
import { prefers } from '../reply/accept.ts';
import { entityTag } from '../reply/send.ts';
import type { ApiRequest, Reply } from '../route.ts';
import { docsPage } from './docs-page.ts';
import { type DocumentOptions, openApiDocument } from './document.ts';
import { type DescribedRoute, json } from './operation.ts';

const common = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;

/** Adds three routes: the description of all routes as JSON and as a page, and `/`. */
export function withDocuments(
  routes: readonly DescribedRoute[],
  options: DocumentOptions & { readonly page: Reply | null },
): readonly DescribedRoute[] {
  const all: readonly DescribedRoute[] = [
    ...routes,
    ...documentRoutes(() => openApiDocument(all, options)),
    rootRoute(options),
  ];
  return all;
}

function documentRoutes(document: () => JsonObject & ReturnType<typeof openApiDocument>): readonly DescribedRoute[] {
  return [
    {
      ...common,
      path: '/api/openapi.json',
      handle: once(() => ({ text: `${JSON.stringify(document())}\n`, headers: {} })),
      operation: {
        id: 'openApi',
        tag: 'Daemon',
        summary: 'Describes every route as JSON',
        answers: {
          200: json('This document, in OpenAPI 3.1.', { type: 'object', required: ['openapi', 'paths'] }),
          304: { description: 'Nothing has changed.' },
        },
      },
    },
    {
      ...common,
      path: '/api/docs',
      handle: once(() => docsPage(document())),
      operation: {
        id: 'docs',
        tag: 'Daemon',
        summary: 'Describes every route as a page',
        answers: {
          200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } },
          304: { description: 'Nothing has changed.' },
        },
      },
    },
  ];
}

/** Creates the route `/`: the page for a browser, or a redirect to the description, temporary so that it is not cached. */
function rootRoute({ basePath, page }: { readonly basePath: string; readonly page: Reply | null }): DescribedRoute {
  const description: Reply = {
    status: 307,
    headers: { Location: `${basePath}/api/docs`, Vary: 'Accept' },
    body: null,
  };
  return {
    ...common,
    path: '/',
    handle: ({ headers }) =>
      page !== null && prefers(headers.accept, ['text/html'], ['application/json']) ? page : description,
    operation: {
      id: 'root',
      tag: 'Daemon',
      summary: 'Shows the web page, or redirects to the description for people',
      answers: {
        200: {
          description: 'The web page, if `Accept` prefers `text/html`.',
          content: { 'text/html': { schema: { type: 'string' } } },
        },
        304: { description: 'Nothing has changed.' },
        307: { description: 'The description is at `Location`.', headers: { Location: '`/api/docs`' } },
      },
    },
  };
}

/** Creates a response at the first request and keeps it, since it does not change while the daemon runs. */
function once(
  make: () => { readonly text: string; readonly headers: Readonly<Record<string, string>> },
): (request: ApiRequest) => Reply {
  let reply: Reply | null = null;
  return () => {
    if (reply !== null) return reply;
    const { text, headers } = make();
    const body = Buffer.from(text);
    reply = { status: 200, headers: { ETag: entityTag(body), 'Cache-Control': 'private, no-cache', ...headers }, body };
    return reply;
  };
}
