import type { Config } from '../../config/config.ts';
import { requireNamedDags } from '../../config/named-dags.ts';
import { isFinished } from '../../core/run/run-state.ts';
import { isNotFound } from '../../errors.ts';
import { locateSteps } from '../../language/locate.ts';
import { findActive } from '../../service/history/active-runs.ts';
import { attemptsOf } from '../../service/history/attempts.ts';
import type { History, RunFilter } from '../../service/history/history.ts';
import { followLogs, type LogView, showLogs } from '../../service/history/log-view.ts';
import { markStep } from '../../service/history/mark-step.ts';
import type { PastRun } from '../../service/history/past-run.ts';
import type {
  LogRequest,
  RunAccess,
  RunLogs,
  RunView,
  StopAnswer,
  StopRequest,
} from '../../service/history/run-access.ts';
import { whyNothing } from '../../service/history/why-nothing.ts';
import { declareLost, stopRun, untilOver } from '../../service/runs/stop-run.ts';
import { findWorkflow, type WorkflowPlaces } from '../../service/workflows/workflows.ts';
import { requireKnownWorkflow } from '../known-workflow.ts';
import { localWorkflows } from './local-workflows.ts';

type AppModule = typeof import('../../app.ts');

/** Lines of a failed step's output. */
const tailLines = 10;

/** The workflows and runs of this machine. */
export async function openLocalAccess(config: Config): Promise<RunAccess> {
  const app = await import('../../app.ts');
  const past = () => app.createPast(config);
  const places = app.workflowPlaces(config);
  return {
    workflowsPlace: config.dagsDir ?? 'the workflows directory: there is no home',
    commandOptions: '',
    workflows: async () => {
      requireNamedDags(config);
      const isSuspended = await app.suspensionCheck(config);
      return localWorkflows({ places, past: config.runsDir === null ? null : past(), isSuspended });
    },
    runs: (filter) => listRuns(filter, { config, app }),
    summary: async (word) => {
      const { history } = past();
      return history.summarize(await history.find(word));
    },
    view: (word) => viewRun(word, { config, app }),
    logs: (word, request) => {
      const { readLog, followLogs } = app;
      return localLogs(word, request, { ...past(), places, readLog, followLogs });
    },
    meant: async (word) => {
      const { history, archive } = past();
      const { active, last } = await findActive(word, { history, archive, cwd: config.cwd });
      return { active: active.map(history.summarize), last: history.summarize(last) };
    },
    canForce: true,
    stop: (runId, request) => stop(runId, request, app.createControl(config)),
    declareLost: async (word) => {
      const control = app.createControl(config);
      const { runId } = await control.history.find(word);
      return control.history.summarize(await declareLost(runId, control));
    },
    untilOver: async (runId) => {
      const control = app.createControl(config);
      return control.history.summarize(await untilOver(runId, control));
    },
    mark: async (word, mark) => {
      const control = app.createControl(config);
      const { runId } = await control.history.find(word);
      return control.history.summarize(await markStep(runId, mark, control));
    },
  };
}

type Parts = { readonly config: Config; readonly app: AppModule };

async function listRuns(filter: RunFilter, { config, app }: Parts): ReturnType<RunAccess['runs']> {
  const { history, archive } = app.createPast(config);
  const runs = [];
  for await (const run of history.list(filter)) runs.push(history.summarize(run));
  if (runs.length === 0 && filter.workflow !== null) {
    requireKnownWorkflow(filter.workflow, { history, archive, places: app.workflowPlaces(config) });
  }
  return runs;
}

async function viewRun(word: string, { config, app }: Parts): Promise<RunView> {
  const { history } = app.createPast(config);
  const { state, stored, ...run } = await history.find(word);
  const summary = history.summarize({ state, stored, ...run });
  const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
  const names = failed.map(({ name }) => name);
  const tails = failed.flatMap(({ name, attempts }) => {
    const paths = attempts === 0 ? undefined : stored?.logPaths(name, attempts);
    return paths === undefined ? [] : [[name, app.readTail(paths, tailLines)] as const];
  });
  return {
    summary,
    state,
    workflow: stored?.workflow ?? null,
    places: stored === null || names.length === 0 ? new Map() : locateSteps(stored.sources, names),
    tails: new Map(tails),
    ...(stored?.masked ? { masked: true } : {}),
  };
}

/** A second request ends the grace. */
async function stop(
  runId: string,
  { by, force }: StopRequest,
  control: ReturnType<AppModule['createControl']>,
): Promise<StopAnswer> {
  const forced = force || control.control.readStop(runId) !== null;
  return { result: await stopRun(runId, { by, force: forced }, control), forced };
}

/** The tools that read local logs. */
type LogTools = Pick<LogView, 'readLog' | 'followLogs'> & {
  readonly history: History;
  readonly places: WorkflowPlaces;
};

/** Returns the output of a local run. Throws like `RunAccess`. */
async function localLogs(word: string, request: LogRequest, tools: LogTools): Promise<RunLogs> {
  const { history, readLog, followLogs: follower } = tools;
  const run = await (request.follow ? findOrAwait(word, request, tools) : history.find(word));
  const filter = { step: request.step, attempt: request.attempt };
  const isEmpty = attemptsOf(run, filter).length === 0;
  return {
    runId: run.runId,
    steps: run.stored?.workflow.steps ?? null,
    read: async (reader, signal) => {
      const { stream } = request;
      const view: LogView = { filter, stream, reader, signal, readLog, followLogs: follower, follow: history.follow };
      if (request.follow && !isFinished(run.state)) return followLogs(run, view);
      if (isEmpty) request.tell(whyNothing(run, request.step));
      await showLogs(run, view);
    },
  };
}

/** Waits for the first run of a workflow that has never run. */
async function findOrAwait(word: string, { tell }: LogRequest, { history, places }: LogTools): Promise<PastRun> {
  try {
    return await history.find(word);
  } catch (error) {
    if (!isNotFound(error) || !isWorkflow(word, places)) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  return (await history.await(word, new AbortController().signal)) ?? history.find(word);
}

function isWorkflow(name: string, places: WorkflowPlaces): boolean {
  try {
    findWorkflow(name, places);
    return true;
  } catch (error) {
    if (isNotFound(error)) return false;
    throw error;
  }
}
