import { basename } from 'node:path';
import type { Param } from '#core/run/run.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { entityTag } from '../reply/send.ts';
import { readQuery } from '../requests.ts';
import type { ApiRequest, Reply } from '../route.ts';
import { runView } from './status-view.ts';
import type { V1Parts } from './v1-parts.ts';
import { defaultParams, errorOf, fileView, tagsOf, workflowView } from './workflow-view.ts';

const mostCached = 32;

/** The request: a page of matching workflows. */
type Wanted = {
  readonly page: number;
  readonly limit: number;
  readonly name: string;
  readonly tag: string;
  readonly group: string | null;
  /** The access of the login, which affects the content. */
  readonly access: ApiRequest['access'];
};

type Page = { readonly body: Buffer; readonly tag: string };

/** The serialized content of files, kept as long as the catalog keeps the file. */
type FileTexts = WeakMap<ListedWorkflow, { readonly dag: string; readonly params: readonly Param[] }>;

/**
 * `GET /api/v1/dags`. Workflows with errors are only in `Errors`. A listing is cached until a file, a run or a
 * suspension changes; then only the data of changed files is rebuilt.
 */
export function listDags(parts: V1Parts): (request: ApiRequest) => Promise<Reply> {
  const { runIndex, workflows } = parts;
  const texts: FileTexts = new WeakMap();
  let cacheKey = '';
  const cache = new Map<string, Page>();
  return async ({ query, access }) => {
    const wanted = { ...wantedIn(query), access };
    await runIndex.refresh();
    const key = `${workflows.version()} ${runIndex.version()} ${workflows.suspensionStamp()}`;
    if (key !== cacheKey || cache.size > mostCached) cache.clear();
    cacheKey = key;
    const name = JSON.stringify(wanted);
    const page = cache.get(name) ?? makePage(wanted, parts, texts);
    cache.set(name, page);
    return { status: 200, headers: { ETag: page.tag, 'Cache-Control': 'private, no-cache' }, body: page.body };
  };
}

function wantedIn(query: URLSearchParams): Omit<Wanted, 'access'> {
  const { page, limit, searchName, searchTag, group } = readQuery('v1ListDags', query);
  return { page, limit, name: (searchName ?? '').toLowerCase(), tag: (searchTag ?? '').toLowerCase(), group };
}

function makePage({ page, limit, access, ...filter }: Wanted, parts: V1Parts, texts: FileTexts): Page {
  const all = parts.workflows.list();
  const fitting = all.filter((listed) => listed.workflow !== null && fits(listed, filter));
  const errors = all.flatMap((listed) => {
    const error = isInGroup(listed, filter.group) ? errorOf(listed, access, parts) : null;
    return error === null ? [] : [`${parts.workflows.nameOf(listed)}: ${error}`];
  });
  const entries = fitting
    .slice((page - 1) * limit, page * limit)
    .map((listed) => entryText(listed, access, { parts, texts }));
  const rest = {
    Errors: errors,
    HasError: errors.length > 0,
    PageCount: Math.max(1, Math.ceil(fitting.length / limit)),
  };
  const body = Buffer.from(`{"DAGs":[${entries.join(',')}],${JSON.stringify(rest).slice(1)}\n`);
  return { body, tag: entityTag(body) };
}

function fits(listed: ListedWorkflow, { name, tag, group }: Pick<Wanted, 'name' | 'tag' | 'group'>): boolean {
  const { workflow } = listed;
  if (!isInGroup(listed, group) || (tag !== '' && !tagsOf(workflow).includes(tag))) return false;
  const texts = [listed.name, basename(listed.file), workflow?.description ?? ''];
  return name === '' || texts.some((text) => text.toLowerCase().includes(name));
}

/** Whether a workflow is in a group: a subdirectory, or the `group` of a file. */
function isInGroup({ group, workflow }: ListedWorkflow, wanted: string | null): boolean {
  return wanted === null || group === wanted || workflow?.group === wanted;
}

function entryText(
  listed: ListedWorkflow,
  access: ApiRequest['access'],
  { parts, texts }: { readonly parts: V1Parts; readonly texts: FileTexts },
): string {
  const { dag, params } = texts.get(listed) ?? readTexts(listed, parts);
  texts.set(listed, { dag, params });
  const isSuspended = parts.workflows.suspendedUntil(listed.file) !== null;
  const file = JSON.stringify({ ...fileView(listed, access, parts), Suspended: isSuspended });
  const status = JSON.stringify(runView(parts.runIndex.lastRunOf(listed.file), { name: listed.name, params }));
  return `${file.slice(0, -1)},"DAG":${dag},"Status":${status}}`;
}

function readTexts(listed: ListedWorkflow, parts: V1Parts): { dag: string; params: readonly Param[] } {
  const workflow = listed.workflow === null ? null : parts.workflows.shown(listed.workflow);
  return { dag: JSON.stringify(workflowView(listed, workflow)), params: defaultParams(workflow) };
}
