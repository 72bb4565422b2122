import { HttpError, type Route } from './route.ts';

/** The result of looking up a path. */
export type FoundRoute =
  | { readonly kind: 'route'; readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The path exists, but not with this method: `allow` lists the possible methods. */
  | { readonly kind: 'wrong-method'; readonly allow: readonly string[] }
  | { readonly kind: 'nothing' };

export type Router = {
  /** `path`: as sent, without query. Throws an `HttpError` 400 for an invalid encoding. */
  readonly find: (method: string, path: string) => FoundRoute;
};

/** A node in the tree of paths: the children by text, the child for a `{name}`, and the routes that end here. */
type Node = {
  readonly texts: Map<string, Node>;
  readonly names: Map<string, Node>;
  readonly routes: Map<string, Route>;
};

/**
 * Creates a router that matches exact segments, with an optional trailing slash. Text has precedence over a `{name}`, for
 * every method: a path that matches a route by its text is not looked for under a name.
 * `basePath` begins with a slash and ends without one, or is empty; paths outside of it have no route.
 */
export function createRouter(routes: readonly Route[], basePath: string): Router {
  const root = emptyNode();
  for (const route of routes) add(root, route);
  return {
    find: (method, path) => {
      const segments = segmentsOf(path, basePath);
      const ends = segments === null ? [] : reached(root, segments, {});
      const wanted = method === 'HEAD' ? 'GET' : method;
      for (const { node, params } of ends) {
        const route = node.routes.get(wanted);
        if (route !== undefined) return { kind: 'route', route, params };
      }
      return ends.length === 0 ? { kind: 'nothing' } : { kind: 'wrong-method', allow: methodsOf(ends) };
    },
  };
}

function emptyNode(): Node {
  return { texts: new Map(), names: new Map(), routes: new Map() };
}

function add(root: Node, route: Route): void {
  let node = root;
  for (const segment of route.path.split('/').filter((text) => text !== '')) {
    const name = /^\{(\w+)\}$/.exec(segment)?.[1];
    const branches = name === undefined ? node.texts : node.names;
    const next = branches.get(name ?? segment) ?? emptyNode();
    branches.set(name ?? segment, next);
    node = next;
  }
  if (node.routes.has(route.method)) throw new Error(`two routes for ${route.method} ${route.path}`);
  node.routes.set(route.method, route);
}

/** Returns the decoded segments; null for a path outside the base path. An empty segment matches nothing. */
function segmentsOf(path: string, basePath: string): readonly string[] | null {
  if (path !== basePath && !path.startsWith(`${basePath}/`)) return null;
  const inner = path.slice(basePath.length).replace(/^\//, '').replace(/\/$/, '');
  return inner === '' ? [] : inner.split('/').map((text) => decode(text, 'the path'));
}

type End = { readonly node: Node; readonly params: Readonly<Record<string, string>> };

function reached(node: Node, [segment, ...rest]: readonly string[], params: End['params']): readonly End[] {
  if (segment === undefined) return node.routes.size === 0 ? [] : [{ node, params }];
  const text = node.texts.get(segment);
  const byText = text === undefined ? [] : reached(text, rest, params);
  if (byText.length > 0 || segment === '') return byText;
  return [...node.names].flatMap(([name, next]) => reached(next, rest, { ...params, [name]: segment }));
}

function methodsOf(ends: readonly End[]): readonly string[] {
  const methods = new Set<string>(ends.flatMap(({ node }) => [...node.routes.keys()]));
  if (methods.has('GET')) methods.add('HEAD');
  return [...methods.add('OPTIONS')].sort();
}

/**
 * Decodes the fields of a query or of a form body. Throws an `HttpError` 400 where `URLSearchParams` would guess: for a
 * stray `%` and for bytes that are not UTF-8.
 */
export function decodeFields(text: string, what: string): URLSearchParams {
  if (text.includes('%')) decode(text, what);
  return new URLSearchParams(text);
}

function decode(text: string, what: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new HttpError(400, `${what} is not encoded correctly`, {
      help: 'a "%" must be followed by two hexadecimal digits, in UTF-8',
    });
  }
}
