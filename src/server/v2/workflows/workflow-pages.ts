import { basename } from 'node:path';
import { hasTag } from '#core/tags.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { entityTag } from '../../reply/send.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler } from '../../route.ts';
import { badCursor, readCursor, toCursor } from '../request-fields.ts';
import type { V2Parts } from '../v2-parts.ts';
import { fileJson, presentJson, presentView } from './workflow-json.ts';

const mostCached = 32;

/** The request: a page of the matching workflows. `after` is the position of the last one of the previous page. */
type Wanted = {
  readonly limit: number;
  readonly after: string | null;
  readonly name: string;
  readonly tag: string;
  readonly group: string | null;
  /** The visible data depends on the login. */
  readonly access: ApiRequest['access'];
};

type Page = { readonly body: Buffer; readonly tag: string };

/** `GET /api/v2/workflows`. */
export function listWorkflowsRoute(parts: V2Parts): Handler {
  const { runIndex, workflows, clock } = parts;
  const items = createWorkflowItems(parts);
  const cache = new Map<string, Page>();
  let cacheKey = '';
  let validUntil = 0;
  const cached = (name: string): Page | undefined => {
    const key = `${workflows.version()} ${runIndex.version()} ${workflows.suspensionStamp()}`;
    if (key !== cacheKey || cache.size > mostCached || clock.now() >= validUntil) {
      cache.clear();
      validUntil = Number.POSITIVE_INFINITY;
    }
    cacheKey = key;
    return cache.get(name);
  };
  return async ({ query, access }) => {
    const wanted = { ...wantedIn(query), access };
    await runIndex.refresh();
    const name = JSON.stringify(wanted);
    if (cached(name) === undefined) await readRecent(wanted, parts);
    let page = cached(name);
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
  const { limit, cursor, name, tag, group } = readQuery('listWorkflows', query);
  const [after = null] = readCursor(cursor) ?? [];
  if (after !== null && typeof after !== 'string') throw badCursor();
  return { limit, after, name: (name ?? '').toLowerCase(), tag: (tag ?? '').toLowerCase(), group };
}

/** Reads the last runs of the workflows of a page, and of those that files which change meanwhile add to it. */
async function readRecent(wanted: Wanted, parts: Pick<V2Parts, 'workflows' | 'runIndex'>): Promise<void> {
  const { workflows, runIndex } = parts;
  for (let version: number | null = null; version !== workflows.version(); ) {
    version = workflows.version();
    await runIndex.recent.read(pageOf(wanted, parts).shown.map(({ file }) => file));
  }
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
  { workflows }: Pick<V2Parts, 'workflows'>,
): { readonly shown: readonly ListedWorkflow[]; readonly isLast: boolean } {
  const { after, limit: count } = wanted;
  const isAfter = (listed: ListedWorkflow) => after === null || placeOf(listed) > after;
  const fitting = workflows.list().filter((listed) => isAfter(listed) && fits(listed, wanted));
  return { shown: fitting.slice(0, count), isLast: fitting.length <= count };
}

/** The path in the workflows directory, which is the sort key. */
function placeOf({ file, group }: ListedWorkflow): string {
  return group === '' ? basename(file) : `${group}/${basename(file)}`;
}

function fits(listed: ListedWorkflow, { name, tag, group }: Wanted): boolean {
  if (group !== null && listed.group !== group) return false;
  if (tag !== '' && !hasTag(listed.workflow?.tags ?? [], tag)) return false;
  return name === '' || listed.name.toLowerCase().includes(name) || basename(listed.file).toLowerCase().includes(name);
}

/** The serialized workflows of a list, and the time until which they are valid while no file or run changes. */
type WorkflowItems = (
  listed: ListedWorkflow,
  access: ApiRequest['access'],
) => { readonly text: string; readonly validUntil: number };

/** Schedules are read a little later than files. */
const scheduleDelayMs = 1000;

/** Keeps the serialized data of files as long as the catalog keeps the files. */
export function createWorkflowItems(parts: Pick<V2Parts, 'workflows' | 'runIndex' | 'clock'>): WorkflowItems {
  const texts = { read: new WeakMap<ListedWorkflow, string>(), write: new WeakMap<ListedWorkflow, string>() };
  return (listed, access) => {
    const text = texts[access].get(listed) ?? JSON.stringify(fileJson(listed, access, parts));
    texts[access].set(listed, text);
    const id = JSON.stringify(parts.workflows.nameOf(listed));
    const present = presentView(listed, parts);
    const isAwaited = listed.workflow !== null && listed.workflow.schedule.start.length > 0;
    const soon = isAwaited ? parts.clock.now() + scheduleDelayMs : Number.POSITIVE_INFINITY;
    return {
      text: `{"id":${id},${text.slice(1, -1)},${JSON.stringify(presentJson(listed, present, parts)).slice(1)}`,
      validUntil: present.next?.getTime() ?? soon,
    };
  };
}
