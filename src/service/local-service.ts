import { isFinished } from '../core/run/run-state.ts';
import { isNotFound, WfError } from '../errors.ts';
import type { RunArchive } from '../store/store.ts';
import { findActive } from './history/active-runs.ts';
import { attemptsOf } from './history/attempts.ts';
import type { History } from './history/history.ts';
import { keptText, logSource } from './history/logs/log-source.ts';
import { readLogs } from './history/logs/log-view.ts';
import { lostText } from './history/logs/lost-text.ts';
import { missingLogs } from './history/logs/missing-logs.ts';
import { whyNothing } from './history/logs/why-nothing.ts';
import type { PastRun } from './history/past-run.ts';
import { summarizeWithFailures } from './history/run-failures.ts';
import { type Reach, requireKnownWorkflow } from './history/run-reference.ts';
import type { RunFilter } from './history/select-runs.ts';
import { createLocalRuns, type LocalRuns, type LocalRunTools } from './runs/local-runs.ts';
import { declareLost, untilOver } from './runs/stopping.ts';
import type { LogAnswer, LogRequest, RunService, RunView, Service } from './service.ts';
import { type EntryTools, workflowEntries } from './workflows/workflow-entries.ts';
import { findWorkflow, type WorkflowPlaces } from './workflows/workflows.ts';

/** The dependencies of the service of this machine. Without a store, `past` and `control` throw. */
export type LocalServiceTools = {
  /** The location of the workflows for messages. */
  readonly location: string;
  readonly reach: Reach;
  readonly places: WorkflowPlaces;
  readonly past: () => { readonly history: History; readonly archive: RunArchive };
  readonly control: () => LocalRunTools & { readonly history: History };
  readonly entries: () => Promise<Omit<EntryTools, 'places'>>;
};

/** The service of this machine, which also starts workflows that were loaded already. */
export type LocalService = Service & Pick<LocalRuns, 'startLoaded'>;

/** Creates the service of this machine. */
export function createLocalService(tools: LocalServiceTools): LocalService {
  const { location, reach, places, past, control, entries } = tools;
  return {
    commandOptions: '',
    startLoaded: (request) => createLocalRuns(control()).startLoaded(request),
    workflows: { location, list: async () => workflowEntries({ ...(await entries()), places }) },
    runs: {
      repeatedStopKills: true,
      start: (order) => createLocalRuns(control()).start(order),
      retry: (order) => createLocalRuns(control()).retry(order),
      stop: (runId, request) => createLocalRuns(control()).stop(runId, request),
      mark: (runId, mark) => createLocalRuns(control()).mark(runId, mark),
      answer: (runId, order) => createLocalRuns(control()).answer(runId, order),
      find: async (reference) => {
        const { history } = past();
        return summarizeWithFailures(await history.find(reference), history);
      },
      view: (reference) => viewRun(reference, tools),
      list: (filter) => listRuns(filter, tools),
      active: async (reference, prefer) => {
        const { history, archive } = past();
        const { active, last } = await findActive(reference, { history, archive, reach }, prefer);
        return { active: active.map(history.summarize), last: history.summarize(last) };
      },
      ended: async (runId) => {
        const stop = control();
        return stop.history.summarize(await untilOver(runId, stop));
      },
      logs: (reference, request) => localLogs(reference, request, { ...tools, ...past() }),
      declareLost: async (reference) => {
        const stop = control();
        const { runId } = await stop.history.find(reference);
        return stop.history.summarize(await declareLost(runId, stop));
      },
    },
  };
}

async function listRuns(filter: RunFilter, { past, places, reach }: LocalServiceTools): ReturnType<RunService['list']> {
  const { history, archive } = past();
  const runs = [];
  for await (const run of history.list(filter)) runs.push(history.summarize(run));
  if (runs.length === 0 && filter.workflow !== null) {
    requireKnownWorkflow(filter.workflow, { history, archive, places, reach });
  }
  return runs;
}

async function viewRun(reference: string, { past }: LocalServiceTools): Promise<RunView> {
  const { history } = past();
  const run = await history.find(reference);
  const { state, stored } = run;
  return {
    summary: await summarizeWithFailures(run, history),
    state,
    workflow: stored?.workflow ?? null,
    ...(stored?.masked ? { masked: true } : {}),
  };
}

/** The tools that read local logs. */
type LogTools = Pick<LocalServiceTools, 'places'> & { readonly history: History; readonly archive: RunArchive };

/** Returns the output of a local run. Throws like `RunService.logs`. */
async function localLogs(reference: string, request: LogRequest, tools: LogTools): Promise<LogAnswer> {
  const { history, archive } = tools;
  const asked = await (request.follow ? findOrAwait(reference, request, tools) : history.find(reference));
  const run = await sourceOf(asked, request.step, history);
  const filter = { step: request.step, attempt: request.attempt };
  const isEmpty = attemptsOf(run, filter).length === 0;
  return {
    runId: asked.runId,
    steps: run.stored?.workflow.steps ?? null,
    read: async (reader, signal) => {
      const { stream, tail, follow: follows } = request;
      if (run !== asked) request.tell(keptText(request.step, run.runId));
      const damage = damageOf(run);
      for (const each of damage) request.tell(`warning: ${each}`);
      if (isEmpty && (!follows || isFinished(run.state))) {
        request.tell(damage.length === 0 ? whyNothing(run, request.step) : unknownOutput(run, archive));
      }
      const missing = missingLogs(run, filter);
      if (missing !== null) request.tell(missing);
      await readLogs(run, { filter, stream, tail, follows }, { reader, signal, follow: history.follow });
      if (!follows || isFinished(run.state) || signal.aborted) return;
      const ended = await history.read(run.runId);
      const lost = ended === null ? null : lostText(history.summarize(ended));
      if (lost !== null) request.tell(lost);
    },
  };
}

/** Returns the damage to the files of a run, which the end of a lost run records as warnings. */
function damageOf({ damage, state }: PastRun): readonly string[] {
  return state.reason === 'lost' ? [...damage, ...state.warnings.map(({ message }) => message)] : damage;
}

/** Damage may hide the steps of a run: their output is still on the disk. */
function unknownOutput({ runId, stored }: PastRun, { directoryOf }: RunArchive): string {
  return `no output of run ${runId} is known; what its steps printed is in ${stored?.logs.directory ?? directoryOf(runId)}`;
}

/** The run that has the logs of a step, which retries may have kept. */
async function sourceOf(run: PastRun, step: string | null, history: History): Promise<PastRun> {
  if (step === null || run.state.retryOf === null) return run;
  const { runId } = await logSource(history.summarize(run), step, async (id) => {
    const earlier = await history.read(id);
    return earlier === null ? null : history.summarize(earlier);
  });
  return runId === run.runId ? run : ((await history.read(runId)) ?? run);
}

/** Waits for the first run of a workflow that has never run. */
async function findOrAwait(word: string, { tell }: LogRequest, { history, places }: LogTools): Promise<PastRun> {
  try {
    return await history.find(word);
  } catch (error) {
    if (!(isNotFound(error) || isUsage(error)) || !isWorkflow(word, places)) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  return (await history.await(word, new AbortController().signal)) ?? history.find(word);
}

/** The last run of the name is of another file. */
function isUsage(error: unknown): boolean {
  return error instanceof WfError && error.code === 'usage';
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
