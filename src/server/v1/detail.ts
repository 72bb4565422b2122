import { WfError } from '../../errors.ts';
import type { ListedWorkflow } from '../../service/workflows/listed-workflow.ts';
import { HttpError } from '../reply/http-error.ts';
import { jsonReply } from '../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../route.ts';
import { gridOf } from './grid.ts';
import { eventLog, stepLog } from './logs.ts';
import { requireLocal } from './numbers.ts';
import type { ShownRun, V1Parts } from './parts.ts';
import { neverRunView, runDetailView } from './run-view.ts';
import { readShown, runOfHandle } from './shown-run.ts';
import { defaultParams, errorOf, fileText, fileView, workflowDetailView } from './workflow-view.ts';

const tabs = ['status', 'spec', 'history', 'log', 'scheduler-log'] as const;
type Tab = (typeof tabs)[number];

/** How many past runs a history shows. */
const pastRuns = 30;

/** What every answer has, whatever the tab. */
const empty = { Definition: '', Graph: '', LogUrl: '', LogData: null, StepLog: null, ScLog: null };

/** `GET /api/v1/dags/{name}`: a workflow, its last run (or the one that `file` stands for), and what a tab shows of it. */
export function showDag(parts: V1Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { name = '' }, query, access }) => {
    requireLocal(query);
    const tab = tabIn(query);
    const listed = findOrNull(name, parts);
    if (listed instanceof WfError) return jsonReply(missing(name, tab, listed), 404);
    await parts.board.refresh();
    const run = await runToShow(listed, query.get('file'), parts);
    const error = errorOf(listed, access, parts);
    return jsonReply({
      ...head(listed.name, tab, error === null ? [] : [error]),
      DAG: dagView({ listed, run, access }, parts),
      ...(await tabView(tab, { listed, run, step: query.get('step') ?? '', access }, parts)),
    });
  };
}

function tabIn(query: URLSearchParams): Tab {
  const word = query.get('tab') || 'status';
  const tab = tabs.find((known) => known === word);
  if (tab !== undefined) return tab;
  throw new HttpError(400, `there is no tab "${word}"`, { help: `tabs: ${tabs.join(', ')}` });
}

function head(Title: string, Tab: Tab, Errors: readonly string[]): object {
  return { Title, Tab, ...empty, Errors };
}

/** Clients look for the errors of a workflow in the shape of one, also when there is none. */
function missing(name: string, tab: Tab, { message, help }: WfError): object {
  const DAG = {
    ...{ File: name, Dir: '', Error: message, ErrorT: message, Suspended: false },
    DAG: workflowDetailView({ name, group: '', file: '' }, null),
    Status: neverRunView(null, { name, params: [] }),
  };
  return { ...head(name, tab, [message]), DAG, message, detailedMessage: help ?? message };
}

function findOrNull(name: string, { names }: V1Parts): ListedWorkflow | WfError {
  try {
    return names.find(name);
  } catch (error) {
    if (error instanceof WfError && error.code === 'not-found') return error;
    throw error;
  }
}

async function runToShow(listed: ListedWorkflow, handle: string | null, parts: V1Parts): Promise<ShownRun | null> {
  if (handle !== null && handle !== '') return runOfHandle(handle, listed, parts);
  const [last] = parts.board.runIdsOf(listed.file);
  return last === undefined ? null : readShown(last, parts);
}

function dagView({ listed, run, access }: Omit<Shown, 'step'>, parts: V1Parts): object {
  const workflow = listed.workflow === null ? null : parts.shown(listed.workflow);
  const subject = { name: listed.name, params: defaultParams(workflow) };
  return {
    ...fileView(listed, access, parts),
    Suspended: parts.suspensions.isSuspended(listed.file),
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
      const ids = parts.board.runIdsOf(listed.file).slice(0, pastRuns);
      const runs = await Promise.all(ids.map((runId) => readShown(runId, parts)));
      return { LogData: gridOf(runs.filter((each) => each !== null)) };
    }
    case 'log':
      return { StepLog: run === null ? null : stepLog(run, step, parts) };
    case 'scheduler-log':
      return { ScLog: run === null ? null : eventLog(run) };
  }
}
