import type { StepSummary } from '#core/summary/summary.ts';
import { handlerKind } from '#core/workflow.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { isNotFound, WfError } from '#system/errors.ts';
import type { Queries } from '../generated/requests.mjs';
import { readQuery } from '../requests.ts';
import { type ApiRequest, HttpError, jsonReply, type Reply } from '../route.ts';
import { stepStatus } from './status-numbers.ts';
import { neverRunView, runDetailView } from './status-view.ts';
import { eventLog, stepOutput } from './step-output.ts';
import { shownName } from './step-view.ts';
import { readShown, runOfHandle, type ShownRun, type V1Parts } from './v1-parts.ts';
import { defaultParams, errorOf, fileText, fileView, workflowDetailView } from './workflow-view.ts';

type Tab = Queries['v1ShowDag']['tab'];

/** The number of past runs in a history. */
const pastRuns = 30;

/** The fields of every response, for any tab. */
const empty = { Definition: '', Graph: '', LogUrl: '', LogData: null, StepLog: null, ScLog: null };

/** `GET /api/v1/dags/{name}`: a workflow, its last run (or the run of `file`), and the data of a tab. */
export function showDag(parts: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { name = '' }, query, access }) => {
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
}

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
    if (isNotFound(error)) return error;
    throw error;
  }
}

async function runToShow(listed: ListedWorkflow, handle: string | null, parts: V1Parts): Promise<ShownRun | null> {
  if (handle !== null && handle !== '') return runOfHandle(handle, listed, parts);
  const [last] = parts.runIndex.runIdsOf(listed.file, 1);
  return last === undefined ? null : readShown(last, parts);
}

function dagView({ listed, run, access }: Omit<Shown, 'step'>, parts: V1Parts): object {
  const workflow = listed.workflow === null ? null : parts.workflows.shown(listed.workflow);
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
      return { Definition: fileText(listed, access, parts) };
    case 'history': {
      const ids = parts.runIndex.runIdsOf(listed.file, pastRuns);
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
  const rows = new Map<string, number[]>();
  for (const [index, { summary }] of runs.entries()) {
    for (const step of [...summary.steps, ...summary.handlers]) setValue(rows, step, { index, count: runs.length });
  }
  // Steps in the order of the newest run, then steps of older runs only, then handlers.
  const names = [...rows.keys()].sort((a, b) => Number(handlerKind(a) !== null) - Number(handlerKind(b) !== null));
  return {
    GridData: names.map((name) => ({ Name: shownName(name), Vals: rows.get(name) })),
    Logs: runs.map((run) => ({ File: run.past.runId, Status: runDetailView(run) })).reverse(),
  };
}

type Place = { readonly index: number; readonly count: number };

function setValue(rows: Map<string, number[]>, { name, status }: StepSummary, { index, count }: Place): void {
  const values = rows.get(name) ?? Array.from({ length: count }, () => 0);
  values[index] = stepStatus({ status }).Status;
  rows.set(name, values);
}
