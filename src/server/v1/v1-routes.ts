import type { Route } from '../route.ts';
import { actOnDag } from './actions.ts';
import { createDag, deleteDag, listTags, searchDags, showSpec } from './collection.ts';
import { showDag } from './detail.ts';
import { listDags } from './listing.ts';
import type { V1Parts } from './v1-parts.ts';

const get = { method: 'GET', access: 'read', body: 'none', errors: 'v1' } as const;
const post = { method: 'POST', access: 'write', body: 'form-or-json', errors: 'v1' } as const;
const remove = { ...post, method: 'DELETE', body: 'none' } as const;

/** Returns the routes for clients of Blackdagger 2 and Dagu 1. */
export function v1Routes(parts: V1Parts): readonly Route[] {
  return [
    { ...get, path: '/api/v1/dags', handle: listDags(parts) },
    { ...post, path: '/api/v1/dags', handle: createDag(parts) },
    { ...get, path: '/api/v1/dags/{name}', handle: showDag(parts) },
    { ...post, path: '/api/v1/dags/{name}', handle: actOnDag(parts) },
    { ...remove, path: '/api/v1/dags/{name}', handle: deleteDag(parts) },
    { ...get, path: '/api/v1/dags/{name}/spec', handle: showSpec(parts) },
    { ...get, path: '/api/v1/search', handle: searchDags(parts) },
    { ...get, path: '/api/v1/tags', handle: listTags(parts) },
  ];
}
