import { expect, test } from 'vitest';
import type { Route } from '#server/route.ts';
import { createRouter, type FoundRoute } from '#server/router.ts';
import fc from '../support/fast-check.ts';

const routes = [
  route('GET', '/api/v1/dags'),
  route('POST', '/api/v1/dags'),
  route('GET', '/api/v1/dags/{name}'),
  route('GET', '/api/v1/dags/{name}/spec'),
  route('GET', '/api/v1/dags/latest'),
  route('DELETE', '/api/v1/dags/{id}'),
  route('GET', '/'),
];

test('a path matches with and without a trailing slash', () => {
  expect(find('GET', '/api/v1/dags')).toBe('GET /api/v1/dags {}');
  expect(find('GET', '/api/v1/dags/')).toBe('GET /api/v1/dags {}');
  expect(find('GET', '/')).toBe('GET / {}');
});

test('a name is one decoded segment, and can contain an encoded slash', () => {
  expect(find('GET', '/api/v1/dags/group%2Fname')).toBe('GET /api/v1/dags/{name} {"name":"group/name"}');
  expect(find('GET', '/api/v1/dags/%C3%A4%20b/spec/')).toBe('GET /api/v1/dags/{name}/spec {"name":"ä b"}');
  expect(find('GET', '/api/v1/dags/..')).toBe('GET /api/v1/dags/{name} {"name":".."}');
});

test('a literal segment has priority over a name, and each route names its own parameters', () => {
  expect(find('GET', '/api/v1/dags/latest')).toBe('GET /api/v1/dags/latest {}');
  expect(find('GET', '/api/v1/dags/latest/spec')).toBe('GET /api/v1/dags/{name}/spec {"name":"latest"}');
  expect(find('DELETE', '/api/v1/dags/other')).toBe('DELETE /api/v1/dags/{id} {"id":"other"}');
});

test('a path with a route of its own has only the methods of that route', () => {
  expect(find('DELETE', '/api/v1/dags/latest')).toBe('405 GET, HEAD, OPTIONS');
  expect(find('OPTIONS', '/api/v1/dags/latest/')).toBe('405 GET, HEAD, OPTIONS');
});

test('HEAD matches the routes of GET', () => {
  expect(find('HEAD', '/api/v1/dags')).toBe('GET /api/v1/dags {}');
});

test('an unsupported method of a known path returns the methods of all its routes', () => {
  expect(find('PUT', '/api/v1/dags')).toBe('405 GET, HEAD, OPTIONS, POST');
  expect(find('PUT', '/api/v1/dags/x')).toBe('405 DELETE, GET, HEAD, OPTIONS');
});

test('empty segments and parts of a path do not match', () => {
  for (const path of [
    '/api//v1/dags',
    '//api/v1/dags',
    '/api/v1/dags//',
    '/api/v1',
    '/api/v1/dags/a/b',
    '/API/v1/dags',
  ]) {
    expect(find('GET', path)).toBe('404');
  }
});

test('only paths below the base path match', () => {
  const { find: findIn } = createRouter(routes, '/wf');

  expect(text(findIn('GET', '/wf/api/v1/dags'))).toBe('GET /api/v1/dags {}');
  expect(text(findIn('GET', '/wf'))).toBe('GET / {}');
  expect(text(findIn('GET', '/wf/'))).toBe('GET / {}');
  expect(text(findIn('GET', '/wfx/api/v1/dags'))).toBe('404');
  expect(text(findIn('GET', '/api/v1/dags'))).toBe('404');
});

test('an encoded segment is decoded to its original text', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'grapheme' }), (name) => {
      expect(find('GET', `/api/v1/dags/${encodeURIComponent(name)}/spec`)).toBe(
        `GET /api/v1/dags/{name}/spec ${JSON.stringify({ name })}`,
      );
    }),
  );
});

test('a path with invalid encoding is rejected', () => {
  for (const path of ['/%', '/api/v1/dags/%zz', '/api/v1/dags/%ff', '/api/v1/dags/%2']) {
    expect(() => find('GET', path)).toThrow('the path is not encoded correctly');
  }
});

test('two routes with the same method and path are an error', () => {
  expect(() => createRouter([...routes, route('GET', '/api/v1/dags')], '')).toThrow('two routes');
});

function route(method: Route['method'], path: string): Route {
  return { method, path, access: 'read', body: 'none', errors: 'v1', handle: () => ({ status: 200, body: '' }) };
}

function find(method: string, path: string): string {
  return text(createRouter(routes, '').find(method, path));
}

function text(found: FoundRoute): string {
  switch (found.kind) {
    case 'route': {
      const { route, params } = found;
      return `${route.method} ${route.path} ${JSON.stringify(params)}`;
    }
    case 'wrong-method':
      return `405 ${found.allow.join(', ')}`;
    case 'nothing':
      return '404';
  }
}
