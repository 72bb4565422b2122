import type { DescribedRoute } from '../docs/operation.ts';
import { actOnDag } from './actions.ts';
import { createDag, deleteDag, listTags, searchDags, showSpec } from './collection.ts';
import { showDag } from './detail.ts';
import { listDags } from './listing.ts';
import { v1Operations as operations } from './operations.ts';
import type { V1Parts } from './parts.ts';

/** Returns the routes for clients of Blackdagger 2 and Dagu 1. */
export function v1Routes(parts: V1Parts): readonly DescribedRoute[] {
  const read = { method: 'GET', access: 'read', body: 'none', errors: 'v1' } as const;
  const write = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'v1' } as const;
  return [
    { ...read, path: '/api/v1/dags', handle: listDags(parts), operation: operations.list },
    { ...write, path: '/api/v1/dags', handle: createDag(parts), operation: operations.create },
    { ...read, path: '/api/v1/dags/{name}', handle: showDag(parts), operation: operations.show },
    { ...write, path: '/api/v1/dags/{name}', handle: actOnDag(parts), operation: operations.act },
    {
      ...write,
      method: 'DELETE',
      body: 'none',
      path: '/api/v1/dags/{name}',
      handle: deleteDag(parts),
      operation: operations.remove,
    },
    { ...read, path: '/api/v1/dags/{name}/spec', handle: showSpec(parts), operation: operations.spec },
    { ...read, path: '/api/v1/search', handle: searchDags(parts), operation: operations.search },
    { ...read, path: '/api/v1/tags', handle: listTags(parts), operation: operations.tags },
  ];
}
