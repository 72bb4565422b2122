import { basename } from 'node:path';
import { buildGraph } from '#core/graph.ts';
import { usualDurationMs } from '#core/summary/summarize.ts';
import { hasTag } from '#core/tags.ts';
import { noSchedule, type Step } from '#core/workflow.ts';
import { diagnosticJson, graphView } from '#render/data-views.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { PageCache, parameterViews, shownDiagnostics, shownSource, shownWorkflow } from '../../both-versions.ts';
import { type ApiRequest, type Handler, jsonReply, readQuery } from '../../route.ts';
import { badCursor, readCursor, toCursor, type V2Handler, type V2Parts } from '../v2-parts.ts';

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

/** `GET /api/v2/workflows`. */
export function listWorkflows(parts: V2Parts): Handler {
  const items = createWorkflowItems(parts);
  const cache = new PageCache(parts);
  return async ({ query, access }) => {
    const wanted = { ...wantedIn(query), access };
    await parts.runIndex.refresh();
    const name = JSON.stringify(wanted);
    if (cache.find(name, parts.clock.now()) === null) await readRecent(wanted, parts);
    const known = cache.find(name, parts.clock.now());
    if (known !== null) return known;
    const { shown, isLast } = pageOf(wanted, parts);
    const entries = shown.map((listed) => items(listed, access));
    const last = shown.at(-1);
    const nextCursor = last !== undefined && !isLast ? toCursor([positionOf(last)]) : null;
    const texts = entries.map(({ text }) => text).join(',');
    const text = `{"workflows":[${texts}],"nextCursor":${JSON.stringify(nextCursor)}}\n`;
    return cache.add(name, text, Math.min(...entries.map(({ validUntil }) => validUntil)));
  };
}

function wantedIn(query: URLSearchParams): Omit<Wanted, 'access'> {
  const { limit, cursor, name, tag, group } = readQuery('listWorkflows', query);
  const [after = null] = readCursor(cursor) ?? [];
  if (after !== null && typeof after !== 'string') throw badCursor();
  return { limit, after, name: (name ?? '').toLowerCase(), tag: (tag ?? '').toLowerCase(), group };
}

/** Reads the last runs of the workflows of a page, and of those that files which change meanwhile add to it. */
async function readRecent(wanted: Wanted, parts: V2Parts): Promise<void> {
  const { workflows, runIndex } = parts;
  for (let version: number | null = null; version !== workflows.version(); ) {
    version = workflows.version();
    await runIndex.recent.read(pageOf(wanted, parts).shown.map(({ file }) => file));
  }
}

function pageOf(wanted: Wanted, { workflows }: V2Parts): { shown: readonly ListedWorkflow[]; isLast: boolean } {
  const { after, limit: count } = wanted;
  const isAfter = (listed: ListedWorkflow) => after === null || positionOf(listed) > after;
  const fitting = workflows.list().filter((listed) => isAfter(listed) && fits(listed, wanted));
  return { shown: fitting.slice(0, count), isLast: fitting.length <= count };
}

/** The path in the workflows directory, which is the sort key. */
function positionOf({ file, group }: ListedWorkflow): string {
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
const SCHEDULE_DELAY_MS = 1000;

/** Keeps the serialized data of files as long as the catalog keeps the files. */
export function createWorkflowItems(parts: V2Parts): WorkflowItems {
  const texts = { read: new WeakMap<ListedWorkflow, string>(), write: new WeakMap<ListedWorkflow, string>() };
  return (listed, access) => {
    const text = texts[access].get(listed) ?? JSON.stringify(fileJson(listed, access, parts));
    texts[access].set(listed, text);
    const id = JSON.stringify(parts.workflows.nameOf(listed));
    const present = presentView(listed, parts);
    const isAwaited = listed.workflow !== null && listed.workflow.schedule.start.length > 0;
    const soon = isAwaited ? parts.clock.now() + SCHEDULE_DELAY_MS : Number.POSITIVE_INFINITY;
    return {
      text: `{"id":${id},${text.slice(1, -1)},${JSON.stringify(presentJson(listed, present, parts)).slice(1)}`,
      validUntil: present.next?.getTime() ?? soon,
    };
  };
}

const NEXT_STARTS = 3;

/** The data of a workflow from its file alone: not its `id`, which depends on the names of other files. */
function fileJson(listed: ListedWorkflow, access: ApiRequest['access'], { workflows }: V2Parts): object {
  const { name, group, file } = listed;
  const workflow = shownWorkflow(listed, workflows);
  return {
    name,
    group,
    file,
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    queue: workflow?.queue === undefined ? null : { name: workflow.queue },
    schedule: workflow?.schedule ?? noSchedule,
    diagnostics: shownDiagnostics(listed, access, workflows).map(diagnosticJson),
  };
}

/** The data of a workflow that changes while its file stays the same. */
type PresentView = { readonly next: Date | null; readonly suspended: boolean; readonly suspendedUntil: Date | null };

function presentView(listed: ListedWorkflow, { workflows }: V2Parts): PresentView {
  const end = workflows.suspendedUntil(listed.file);
  return {
    next: workflows.nextOf(listed),
    suspended: end !== null,
    suspendedUntil: end !== null && Number.isFinite(end) ? new Date(end) : null,
  };
}

/** The current view and the last runs, as in lists. */
function presentJson({ file }: ListedWorkflow, present: PresentView, { runIndex }: V2Parts): object {
  const recent = runIndex.recent.of(file);
  return { ...present, lastRun: runIndex.lastRunOf(file), recent, medianMs: usualDurationMs(recent ?? []) };
}

/** A workflow with the whole content of its file, as written: nothing is evaluated. */
function detailView(listed: ListedWorkflow, access: ApiRequest['access'], parts: V2Parts): object {
  const workflow = shownWorkflow(listed, parts.workflows);
  return {
    id: parts.workflows.nameOf(listed),
    ...fileJson(listed, access, parts),
    ...presentJson(listed, presentView(listed, parts), parts),
    nextStarts: parts.workflows.startsOf(listed, NEXT_STARTS),
    scheduleWords: parts.workflows.scheduleWordsOf(listed),
    definition: shownSource(listed, access, parts.workflows),
    params: workflow?.params.map(({ name, value, open }) => ({ name, value, open: open === true })) ?? [],
    parameters: workflow === null ? [] : parameterViews(workflow),
    env: workflow?.env ?? [],
    dotenv: workflow?.dotenv ?? [],
    steps: workflow?.steps.map(stepView) ?? [],
    handlers: Object.values(workflow?.handlers ?? {}).flatMap((handler) => (handler === null ? [] : stepView(handler))),
    graph: workflow === null ? null : graphView(buildGraph(workflow)),
    queue: workflow?.queue === undefined ? null : { name: workflow.queue, ...parts.queueNamed(workflow.queue) },
    ...(workflow?.runConfig === undefined ? {} : { runConfig: workflow.runConfig }),
    active: parts.runIndex.activeOf(listed.file).map(({ runId }) => runId),
  };
}

function stepView(step: Step): object {
  return Object.fromEntries(stepKeys.map((key) => [key, step[key]]));
}

const stepKeys = [
  'name',
  'description',
  'executor',
  'command',
  'args',
  'script',
  'dir',
  'depends',
  'preconditions',
  'continueOn',
  'retry',
  'repeat',
  'output',
  'stdout',
  'stderr',
  'env',
  'signalOnStop',
  'timeoutMs',
] as const satisfies readonly (keyof Step)[];

/** `GET /api/v2/workflows/{name}`. */
export const showWorkflow: V2Handler = async ({ params: { name = '' }, access }, parts) => {
  const listed = parts.workflows.get(name);
  await parts.runIndex.refresh();
  await parts.runIndex.recent.read([listed.file]);
  return jsonReply(detailView(listed, access, parts));
};

/** `POST /api/v2/validate`. */
export const validate: V2Handler = async ({ body, query }, { workflows }) => {
  const { workflow } = readQuery('validate', query);
  if (workflow !== null) await workflows.seek(workflow);
  const beside = workflow === null ? null : workflows.get(workflow).file;
  const { isValid, diagnostics } = await workflows.check(typeof body === 'string' ? body : '', beside);
  return jsonReply({ files: [{ file: '-', valid: isValid, diagnostics: diagnostics.map(diagnosticJson) }] });
};
