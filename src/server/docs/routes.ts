import type { JsonObject } from '../../core/workflow.ts';
import { entityTag } from '../reply/send.ts';
import type { ApiRequest, Reply } from '../route.ts';
import { type DocumentOptions, openApiDocument } from './document.ts';
import { type DescribedRoute, json } from './operation.ts';
import { docsPage } from './page.ts';

const common = { method: 'GET', access: 'read', body: 'none', errors: 'problem' } as const;

/** The routes with two more: what is said of all of them, for programs and for people. */
export function withDocuments(routes: readonly DescribedRoute[], options: DocumentOptions): readonly DescribedRoute[] {
  const all: readonly DescribedRoute[] = [
    ...routes,
    ...documentRoutes(() => openApiDocument(all, options)),
    rootRoute(options.basePath),
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
        summary: 'Describes every route, for programs',
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
        summary: 'Describes every route, for people',
        answers: {
          200: { description: 'A page.', content: { 'text/html': { schema: { type: 'string' } } } },
          304: { description: 'Nothing has changed.' },
        },
      },
    },
  ];
}

/** A browser that opens the daemon's address gets the description. Not permanent, so that no browser remembers it. */
function rootRoute(basePath: string): DescribedRoute {
  const location = `${basePath}/api/docs`;
  return {
    ...common,
    path: '/',
    handle: () => ({ status: 307, headers: { Location: location }, body: null }),
    operation: {
      id: 'root',
      tag: 'Daemon',
      summary: 'Redirects to the description for people',
      answers: { 307: { description: 'The description is at `Location`.', headers: { Location: '`/api/docs`' } } },
    },
  };
}

/** Made when somebody asks for it the first time: it stays the same for as long as the daemon runs. */
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
