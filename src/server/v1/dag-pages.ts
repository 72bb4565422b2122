import { basename } from 'node:path';
import type { Param, StepStatus, StoredEvent } from '#core/run/run.ts';
import { attemptMark, stepMark } from '#render/log-lines.ts';
import type { PastRun } from '#service/history.ts';
import { attemptsOf } from '#service/logs.ts';
import type { ListedWorkflow } from '#service/workflows.ts';
import { type LogExcerpt, readExcerpt } from '#store/log-ends.ts';
import { failedAs, WfError } from '#system/errors.ts';
import { PageCache, shownSource, shownWorkflow, stepGrid } from '../both-versions.ts';
import type { Queries } from '../generated/requests.mjs';
import { type ApiRequest, type Handler, HttpError, jsonReply, readQuery } from '../route.ts';
import { neverRunView, nodeViews, runDetailView, runView, shownName, stepStatus } from './status-view.ts';
import { readShown, runOfHandle, type ShownRun, type V1Handler, type V1Parts } from './v1-parts.ts';
import { defaultParams, errorOf, fileView, tagsOf, workflowDetailView, workflowView } from './workflow-view.ts';

type Wanted = {
  readonly page: number;
  readonly limit: number;
  readonly name: string;
  readonly tag: string;
  readonly group: string | null;
  /** The access of the login, which affects the content. */
  readonly access: ApiRequest['access'];
};

/** The serialized content of files, kept as long as the catalog keeps the file. */
type FileTexts = WeakMap<ListedWorkflow, { readonly dag: string; readonly params: readonly Param[] }>;

/** `GET /api/v1/dags`, cached until a file, a run or a suspension changes. */
export function listDags(parts: V1Parts): Handler {
  const texts: FileTexts = new WeakMap();
  const cache = new PageCache(parts);
  return async ({ query, access }) => {
    const wanted = { ...wantedIn(query), access };
    await parts.runIndex.refresh();
    const name = JSON.stringify(wanted);
    return cache.find(name) ?? cache.add(name, pageText(wanted, parts, texts));
  };
}

function wantedIn(query: URLSearchParams): Omit<Wanted, 'access'> {
  const { page, limit, searchName, searchTag, group } = readQuery('v1ListDags', query);
  return { page, limit, name: (searchName ?? '').toLowerCase(), tag: (searchTag ?? '').toLowerCase(), group };
}

function pageText({ page, limit, access, ...filter }: Wanted, parts: V1Parts, texts: FileTexts): string {
  const all = parts.workflows.list();
  const fitting = all.filter((listed) => listed.workflow !== null && fits(listed, filter));
  const Errors = all.flatMap((listed) => {
    const error = isInGroup(listed, filter.group) ? errorOf(listed, access, parts) : null;
    return error === null ? [] : [`${parts.workflows.nameOf(listed)}: ${error}`];
  });
  const shown = fitting.slice((page - 1) * limit, page * limit);
  const entries = shown.map((listed) => entryText(listed, access, parts, texts));
  const rest = { Errors, HasError: Errors.length > 0, PageCount: Math.max(1, Math.ceil(fitting.length / limit)) };
  return `{"DAGs":[${entries.join(',')}],${JSON.stringify(rest).slice(1)}\n`;
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

function entryText(listed: ListedWorkflow, access: ApiRequest['access'], parts: V1Parts, texts: FileTexts): string {
  const { dag, params } = texts.get(listed) ?? readTexts(listed, parts);
  texts.set(listed, { dag, params });
  const isSuspended = parts.workflows.suspendedUntil(listed.file) !== null;
  const file = JSON.stringify({ ...fileView(listed, access, parts), Suspended: isSuspended });
  const status = JSON.stringify(runView(parts.runIndex.lastRunOf(listed.file), { name: listed.name, params }));
  return `${file.slice(0, -1)},"DAG":${dag},"Status":${status}}`;
}

function readTexts(listed: ListedWorkflow, parts: V1Parts): { dag: string; params: readonly Param[] } {
  const workflow = shownWorkflow(listed, parts.workflows);
  return { dag: JSON.stringify(workflowView(listed, workflow)), params: defaultParams(workflow) };
}

type Tab = Queries['v1ShowDag']['tab'];

const PAST_RUNS = 30;

/** The fields of every response, for any tab. */
const empty = { Definition: '', Graph: '', LogUrl: '', LogData: null, StepLog: null, ScLog: null };

/** `GET /api/v1/dags/{name}`: a workflow, its last run (or the run of `file`), and the data of a tab. */
export const showDag: V1Handler = async ({ params: { name = '' }, query, access }, parts) => {
  const { tab, step, file } = readQuery('v1ShowDag', query);
  if (tab === 'log' && step === null) throw new HttpError(400, '"step" is missing, which the tab "log" needs');
  const listed = findOrNull(name, parts);
  if (listed instanceof WfError) return jsonReply(missing(name, tab, listed), 404);
  await parts.runIndex.refresh();
  const run = await runToShow(listed, file, parts);
  const error = errorOf(listed, access, parts);
  return jsonReply({
    ...head(listed.name, tab, error === null ? [] : [error]),
    DAG: dagView({ listed, run, access }, parts),
    ...(await tabView(tab, { listed, run, step: step ?? '', access }, parts)),
  });
};

function head(Title: string, Tab: Tab, Errors: readonly string[]): object {
  return { Title, Tab, ...empty, Errors };
}

/** Returns the error for an unknown workflow in the format of a workflow, where clients look for errors. */
function missing(name: string, tab: Tab, { message, help }: WfError): object {
  const dag = {
    ...{ File: name, Dir: '', Error: message, ErrorT: message, Suspended: false },
    DAG: workflowDetailView({ name, group: '', file: '' }, null),
    Status: neverRunView(null, { name, params: [] }),
  };
  return { ...head(name, tab, [message]), DAG: dag, message, detailedMessage: help ?? message };
}

function findOrNull(name: string, { workflows }: V1Parts): ListedWorkflow | WfError {
  try {
    return workflows.get(name);
  } catch (error) {
    if (failedAs(error, 'not-found')) return error;
    throw error;
  }
}

async function runToShow(listed: ListedWorkflow, handle: string | null, parts: V1Parts): Promise<ShownRun | null> {
  if (handle !== null && handle !== '') return runOfHandle(handle, listed, parts);
  const [last] = parts.runIndex.runIdsOf(listed.file, 1);
  return last === undefined ? null : readShown(last, parts);
}

function dagView({ listed, run, access }: Omit<Shown, 'step'>, parts: V1Parts): object {
  const workflow = shownWorkflow(listed, parts.workflows);
  const subject = { name: listed.name, params: defaultParams(workflow) };
  return {
    ...fileView(listed, access, parts),
    Suspended: parts.workflows.suspendedUntil(listed.file) !== null,
    DAG: workflowDetailView(listed, workflow),
    Status: run === null ? neverRunView(workflow, subject) : runDetailView(run),
  };
}

type Shown = {
  readonly listed: ListedWorkflow;
  readonly run: ShownRun | null;
  readonly step: string;
  readonly access: ApiRequest['access'];
};

async function tabView(tab: Tab, { listed, run, step, access }: Shown, parts: V1Parts): Promise<object> {
  switch (tab) {
    case 'status':
      return {};
    case 'spec':
      return { Definition: shownSource(listed, access, parts.workflows) ?? '' };
    case 'history': {
      const ids = parts.runIndex.runIdsOf(listed.file, PAST_RUNS);
      const runs = await Promise.all(ids.map((runId) => readShown(runId, parts)));
      return { LogData: gridOf(runs.filter((each) => each !== null)) };
    }
    case 'log':
      return { StepLog: run === null ? null : await stepOutput(run, step) };
    case 'scheduler-log':
      return { ScLog: run === null ? null : eventLog(run) };
  }
}

/**
 * Returns past runs in the format of the v1 API: a row for each step with a value for each run, and the runs themselves.
 * `runs` and the values are newest first; `Logs` are oldest first, each with the handle for requesting its logs.
 */
function gridOf(runs: readonly ShownRun[]): object {
  const summaries = runs.map(({ summary }) => summary);
  const { names, statusesOf } = stepGrid(summaries);
  const columns = summaries.map(statusesOf);
  const numberOf = (status: StepStatus | null = null) => (status === null ? 0 : stepStatus({ status }).Status);
  return {
    GridData: names.map((name, row) => ({ Name: shownName(name), Vals: columns.map((own) => numberOf(own[row])) })),
    Logs: runs.map((run) => ({ File: run.past.runId, Status: runDetailView(run) })).reverse(),
  };
}

/** The bytes shown of the beginning and end of a longer output. */
const size = { head: 256 * 1024, tail: 256 * 1024 };
/** The maximum number and total length of the shown attempts; earlier attempts are left out. */
const MOST_ATTEMPTS = 100;
const MOST_CHARACTERS = 1024 * 1024;

/** Returns the output of a step or handler, which may have its v1 name. Throws a `WfError` `not-found`. */
async function stepOutput(run: ShownRun, wanted: string): Promise<object> {
  const { past, summary } = run;
  const all = [...summary.steps, ...summary.handlers];
  const step = all.find(({ name }) => name === wanted) ?? all.find(({ name }) => shownName(name) === wanted);
  if (step === undefined) {
    const help = `its steps: ${all.map(({ name }) => shownName(name)).join(', ')}`;
    throw new WfError('not-found', `the run ${past.runId} has no step "${wanted}"`, { help });
  }
  return { Step: nodeViews(run)(step), LogFile: past.runId, Content: await contentOf(past, step.name) };
}

/** Returns the output of the attempts with lines between them. Reads the newest first, since older ones may be left out. */
async function contentOf(past: PastRun, step: string): Promise<string> {
  const { stored } = past;
  if (stored === null) return '';
  const attempts = attemptsOf(past, { step, attempt: null });
  const texts: string[] = [];
  let characters = 0;
  for (const { step: own, attempt } of [...attempts].reverse()) {
    if (texts.length === MOST_ATTEMPTS || characters > MOST_CHARACTERS) break;
    let output = '';
    for (const stream of await stored.logs.streams(own, attempt)) {
      output += text(await readExcerpt(stored.logs.file(own, attempt, stream), size));
    }
    const marks = [...(own === step ? [] : [stepMark(own)]), ...(attempt > 1 ? [attemptMark(attempt)] : [])];
    texts.unshift(output === '' ? '' : [...marks, output].join('\n'));
    characters += output.length;
  }
  const leftOut = attempts.length - texts.length;
  if (leftOut > 0) texts.unshift(`[${leftOut} earlier attempts are left out here]`);
  return texts.reduce(
    (all, each) => (all === '' || all.endsWith('\n') || each === '' ? all + each : `${all}\n${each}`),
    '',
  );
}

function eventLog({ past }: ShownRun): object {
  const lines = [...(past.stored?.events ?? []).map(eventLine), ...past.damage];
  return { LogFile: past.runId, Content: lines.map((line) => `${line}\n`).join('') };
}

function text({ size: bytes, head, tail }: LogExcerpt): string {
  const [start, end] = [head, tail].map((part) => Buffer.from(part).toString());
  if (tail.length === 0) return start ?? '';
  return `${start}\n[${bytes - head.length - tail.length} bytes are left out here]\n${end}`;
}

/** Formats an event as a line: its time, type, step, attempt, status and message. */
function eventLine(event: StoredEvent): string {
  const parts = [
    new Date(event.at).toISOString(),
    event.type,
    'step' in event && event.step !== null ? JSON.stringify(event.step) : '',
    'attempt' in event && event.attempt > 1 ? `attempt ${event.attempt}` : '',
    'status' in event ? event.status : '',
    'message' in event ? event.message : '',
  ];
  return parts.filter((part) => part !== '').join(' ');
}
