import { basename } from 'node:path';
import type { ListedWorkflow } from '../../../service/workflows/listed-workflow.ts';
import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { entityTag } from '../../reply/send.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { badCursor, cursorIn, toCursor } from '../cursor.ts';
import { exampleWorkflow } from '../examples.ts';
import { cursor, filter, limit } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { limitIn } from '../query.ts';
import { createWorkflowItems, type WorkflowItems } from './workflow-items.ts';

const usualLimit = 100;
const mostAtOnce = 1000;
const mostCached = 32;

/** What is asked for: a page of the workflows that fit. `after` is the place of the last one of the page before. */
type Wanted = {
  readonly limit: number;
  readonly after: string | null;
  readonly name: string;
  readonly tag: string;
  readonly group: string | null;
  /** What a login may see differs. */
  readonly access: ApiRequest['access'];
};

type Page = { readonly body: Buffer; readonly tag: string };

const operation: Operation = {
  id: 'listWorkflows',
  tag: 'Workflows',
  summary: 'Lists workflows, in the order of the paths of their files',
  description:
    'Files that are not valid are listed, too: their `diagnostics` tell why. The answer has an `ETag`; who sends it as `If-None-Match` is answered with 304 until something changes.',
  parameters: [
    filter('name', 'Only those with this text in their name or in that of their file, whatever its case.', 'etl'),
    filter('tag', 'Only those with this tag, whatever its case.'),
    filter('group', 'Only those in this folder of the workflows directory; empty: in none.'),
    limit(usualLimit, mostAtOnce),
    cursor,
  ],
  answers: {
    200: json('A page of workflows.', ref('WorkflowPage'), { workflows: [exampleWorkflow], nextCursor: null }),
    304: { description: 'Nothing has changed.' },
  },
};

/** `GET /api/v2/workflows`. */
export function listWorkflowsRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/workflows',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: listWorkflows(parts),
    operation,
  };
}

/** A page is made once and kept until a file, a run or a suspension changes, or a schedule has come to its next moment. */
function listWorkflows(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  const { board, catalog, suspensions, clock } = parts;
  const items = createWorkflowItems(parts);
  const cache = new Map<string, Page>();
  let cacheKey = '';
  let validUntil = 0;
  let readVersion = 0;
  return async ({ query, access }) => {
    const wanted = { ...wantedIn(query), access };
    await board.refresh();
    const name = JSON.stringify(wanted);
    if (!cache.has(name) || catalog.version() !== readVersion) {
      readVersion = catalog.version();
      await board.recent.read(pageOf(wanted, parts).shown.map(({ file }) => file));
    }
    const key = `${catalog.version()} ${board.version()} ${suspensions.stamp()}`;
    if (key !== cacheKey || cache.size > mostCached || clock.now() >= validUntil) {
      cache.clear();
      validUntil = Number.POSITIVE_INFINITY;
    }
    cacheKey = key;
    let page = cache.get(name);
    if (page === undefined) {
      const made = makePage(wanted, parts, items);
      validUntil = Math.min(validUntil, made.validUntil);
      page = made.page;
      cache.set(name, page);
    }
    return { status: 200, headers: { ETag: page.tag, 'Cache-Control': 'private, no-cache' }, body: page.body };
  };
}

function wantedIn(query: URLSearchParams): Omit<Wanted, 'access'> {
  const [after = null] = cursorIn(query) ?? [];
  if (after !== null && typeof after !== 'string') throw badCursor();
  return {
    limit: limitIn(query, usualLimit, mostAtOnce),
    after,
    name: (query.get('name') ?? '').toLowerCase(),
    tag: (query.get('tag') ?? '').toLowerCase(),
    group: query.get('group'),
  };
}

function makePage(wanted: Wanted, parts: V2Parts, items: WorkflowItems): { page: Page; validUntil: number } {
  const { shown, isLast } = pageOf(wanted, parts);
  const entries = shown.map((listed) => items(listed, wanted.access));
  const last = shown.at(-1);
  const nextCursor = last !== undefined && !isLast ? toCursor([placeOf(last)]) : null;
  const body = Buffer.from(
    `{"workflows":[${entries.map(({ text }) => text).join(',')}],"nextCursor":${JSON.stringify(nextCursor)}}\n`,
  );
  return { page: { body, tag: entityTag(body) }, validUntil: Math.min(...entries.map(({ validUntil }) => validUntil)) };
}

function pageOf(
  wanted: Wanted,
  { catalog }: Pick<V2Parts, 'catalog'>,
): { readonly shown: readonly ListedWorkflow[]; readonly isLast: boolean } {
  const { after, limit: count } = wanted;
  const isAfter = (listed: ListedWorkflow) => after === null || placeOf(listed) > after;
  const fitting = catalog.list().filter((listed) => isAfter(listed) && fits(listed, wanted));
  return { shown: fitting.slice(0, count), isLast: fitting.length <= count };
}

/** The path in the workflows directory, by which all are in order. */
function placeOf({ file, group }: ListedWorkflow): string {
  return group === '' ? basename(file) : `${group}/${basename(file)}`;
}

function fits(listed: ListedWorkflow, { name, tag, group }: Wanted): boolean {
  if (group !== null && listed.group !== group) return false;
  if (tag !== '' && !(listed.workflow?.tags ?? []).some((each) => each.toLowerCase() === tag)) return false;
  return name === '' || listed.name.toLowerCase().includes(name) || basename(listed.file).toLowerCase().includes(name);
}
