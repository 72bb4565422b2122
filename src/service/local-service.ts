import { existsSync } from 'node:fs';
import { isFinished } from '#core/run/run-state.ts';
import type { LockState, RunArchive } from '#store/store.ts';
import { failedAs } from '#system/errors.ts';
import type { History, RunFilter } from './history/history.ts';
import { keptText, logParts, lostText, whyNothing } from './history/logs/log-source.ts';
import {
  type AttemptFilter,
  attemptsOf,
  isGoingOn,
  type LoggedRun,
  type LogView,
  readLogs,
} from './history/logs/log-view.ts';
import { mayBeActive, type PastRun } from './history/past-run.ts';
import { summarizeWithFailures } from './history/run-failures.ts';
import { lastRunId, namesWorkflow, type Reach, requireKnownWorkflow } from './history/run-reference.ts';
import { storedArtifacts } from './on-demand.ts';
import { declareLost, untilOver } from './runs/end-run.ts';
import { createLocalRuns, type LocalRuns, type LocalRunTools } from './runs/local-runs.ts';
import { type LogAnswer, type LogRequest, lockEntry, type RunService, type RunView, type Service } from './service.ts';
import { type EntryTools, workflowEntries } from './workflows/workflow-entries.ts';
import { findWorkflow, type WorkflowDirectories } from './workflows/workflows.ts';

/** The dependencies of the service of this machine. Without a store, `past` and `control` throw. */
type LocalServiceTools = {
  readonly location: string;
  readonly reach: Reach;
  readonly directories: WorkflowDirectories;
  readonly past: () => { readonly history: History; readonly archive: RunArchive };
  readonly control: () => LocalRunTools & { readonly history: History };
  readonly entries: () => Promise<Omit<EntryTools, 'directories'>>;
  readonly locks: () => Promise<readonly LockState[]>;
};

/** The service of this machine, which also starts workflows that were loaded already. */
export type LocalService = Service & Pick<LocalRuns, 'startLoaded'>;

/** Creates the service of this machine. */
export function createLocalService(tools: LocalServiceTools): LocalService {
  const { location, reach, directories, past, control, entries, locks } = tools;
  return {
    commandOptions: '',
    startLoaded: (request) => createLocalRuns(control()).startLoaded(request),
    workflows: { location, list: async () => workflowEntries({ ...(await entries()), directories }) },
    locks: async () => (await locks()).map(lockEntry),
    runs: {
      repeatedStopKills: true,
      start: (order) => createLocalRuns(control()).start(order),
      retry: (order) => createLocalRuns(control()).retry(order),
      stop: (runId, request) => createLocalRuns(control()).stop(runId, request),
      mark: (runId, mark) => createLocalRuns(control()).mark(runId, mark),
      answer: (runId, order) => createLocalRuns(control()).answer(runId, order),
      find: async (reference) => {
        const { history } = past();
        return summarizeWithFailures(await history.withWaits(await history.find(reference)), history);
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
      artifacts: async (reference) => storedArtifacts(await past().history.find(reference)),
      logs: (reference, request) => localLogs(reference, request, { ...tools, ...past() }),
      declareLost: async (reference) => {
        const stop = control();
        const { runId } = await stop.history.find(reference);
        return stop.history.summarize(await declareLost(runId, stop));
      },
    },
  };
}

async function listRuns(
  filter: RunFilter,
  { past, directories, reach }: LocalServiceTools,
): ReturnType<RunService['list']> {
  const { history, archive } = past();
  const runs = [];
  for await (const run of history.list(filter)) runs.push(history.summarize(run));
  if (runs.length === 0 && filter.workflow !== null) {
    requireKnownWorkflow(filter.workflow, { history, archive, directories, reach });
  }
  return runs;
}

async function viewRun(reference: string, { past }: LocalServiceTools): Promise<RunView> {
  const { history } = past();
  const run = await history.withWaits(await history.find(reference));
  const { state, stored } = run;
  return {
    summary: await summarizeWithFailures(run, history),
    state,
    workflow: stored?.workflow ?? null,
    ...(stored?.masked ? { masked: true } : {}),
  };
}

type LogTools = Pick<LocalServiceTools, 'directories'> & { readonly history: History; readonly archive: RunArchive };

async function localLogs(reference: string, request: LogRequest, tools: LogTools): Promise<LogAnswer> {
  const { history } = tools;
  const asked = await (request.follow ? findOrAwait(reference, request, tools) : history.find(reference));
  const parts = await readParts(asked, request, history);
  for (const { run, filter } of parts) attemptsOf(run, filter);
  return {
    runId: asked.runId,
    steps: parts[0]?.run.stored?.workflow.steps ?? null,
    read: async (reader, signal) => {
      for (const part of parts) {
        if (part.kept !== null) request.tell(part.kept);
        // The last lines of all parts are printed together.
        const own = part === parts.at(-1) ? reader : { ...reader, release: () => undefined };
        await readPart(part, request, { ...tools, reader: own, signal });
      }
    },
  };
}

/** A run with logs that were asked for. `kept`: the sentence that names an earlier run. */
type ReadPart = { readonly run: PastRun; readonly filter: AttemptFilter; readonly kept: string | null };

/** Returns the runs with the logs that were asked for, at least one. */
async function readParts(
  asked: PastRun,
  { step, attempt }: LogRequest,
  history: History,
): Promise<readonly ReadPart[]> {
  const whole = { run: asked, filter: { step, attempt }, kept: null };
  if (asked.state.retryOf === null) return [whole];
  const runs = new Map([[asked.runId, asked]]);
  const parts = await logParts(history.summarize(asked), step, async (id) => {
    const earlier = await history.read(id);
    if (earlier !== null) runs.set(id, earlier);
    return earlier === null ? null : history.summarize(earlier);
  });
  const read = parts.map((part): ReadPart => {
    const run = runs.get(part.run.runId) ?? asked;
    return { run, filter: { step, attempt, only: part.only }, kept: run === asked ? null : keptText(step, part) };
  });
  const having = read.filter(({ run, filter }) => {
    return attempt === null || attemptsOf(run, { ...filter, attempt: null }).some((each) => each.attempt === attempt);
  });
  return having.length === 0 ? read.slice(-1) : having;
}

async function readPart(
  { run, filter }: ReadPart,
  request: LogRequest,
  { history, archive, reader, signal }: LogTools & Pick<LogView, 'reader' | 'signal'>,
): Promise<void> {
  const { stream, tail, follow: follows, step, tell } = request;
  const damage = damageOf(run);
  for (const each of damage) tell(`warning: ${each}`);
  if (attemptsOf(run, filter).length === 0 && (!follows || isFinished(run.state))) {
    tell(damage.length === 0 ? whyNothing(run, step) : unknownOutput(run, archive));
  }
  const missing = missingLogs(run, filter);
  if (missing !== null) tell(missing);
  const now = request.times === true ? Date.now : undefined;
  await readLogs(run, { filter, stream, tail, follows, now }, { reader, signal, follow: history.follow });
  if (!follows || isFinished(run.state) || signal.aborted) return;
  const ended = await history.read(run.runId);
  const lost = ended === null ? null : lostText(history.summarize(ended));
  if (lost !== null) tell(lost);
}

/** Returns the damage to the files of a run, which the end of a lost run records as warnings. */
function damageOf({ damage, state }: PastRun): readonly string[] {
  return state.reason === 'lost' ? [...damage, ...state.warnings.map(({ message }) => message)] : damage;
}

/** Damage may hide the steps of a run: their output is still on the disk. */
function unknownOutput({ runId, stored }: PastRun, { directoryOf }: RunArchive): string {
  return `no output of run ${runId} is known; what its steps printed is in ${stored?.logs.directory ?? directoryOf(runId)}`;
}

/** Waits for the first run of a workflow that has never run. */
async function findOrAwait(word: string, { tell }: LogRequest, { history, directories }: LogTools): Promise<PastRun> {
  try {
    return await history.find(word);
  } catch (error) {
    if (!failedAs(error, 'not-found', 'usage') || !isWorkflow(word, directories)) throw error;
  }
  tell(`waiting for the first run of "${word}"`);
  return (await history.await(word, new AbortController().signal)) ?? history.find(word);
}

function isWorkflow(name: string, directories: WorkflowDirectories): boolean {
  try {
    findWorkflow(name, directories);
    return true;
  } catch (error) {
    if (failedAs(error, 'not-found')) return false;
    throw error;
  }
}

type ActiveRunTools = { readonly archive: RunArchive; readonly history: History; readonly reach: Reach };

/**
 * Finds the running and waiting runs of a reference, newest first: one run by its id, or every run of a workflow. `last` is
 * the named run, or the last run of the workflow. `prefer`: the meaning of
 * a word that is both. Throws a `WfError`: `not-found`, or `usage` if the reference is the prefix of several ids.
 */
export async function findActive(
  word: string,
  tools: ActiveRunTools,
  prefer: 'run' | 'workflow' = 'run',
): Promise<{ readonly active: readonly PastRun[]; readonly last: PastRun }> {
  const { archive, history, reach } = tools;
  const ofWorkflow = prefer === 'workflow' ? lastRunId({ archive, ids: archive.list() }, word, reach) : null;
  if (ofWorkflow !== null) {
    const active = await activeOf(word, tools);
    return { active, last: active[0] ?? (await history.find(ofWorkflow)) };
  }
  const last = await history.find(word);
  const isOfWorkflow =
    last.runId !== word && !word.startsWith('@') && namesWorkflow(word, reach)(archive.readCreated(last.runId));
  if (isOfWorkflow) return { last, active: await activeOf(word, tools) };
  return { last, active: isFinished(last.state) ? [] : [last] };
}

async function activeOf(workflow: string, { archive, history, reach }: ActiveRunTools): Promise<readonly PastRun[]> {
  const isMeant = namesWorkflow(workflow, reach);
  const active: PastRun[] = [];
  const ids = archive.list();
  const labelOf = archive.labels(ids);
  for (const runId of ids) {
    if (!isMeant(labelOf(runId)) || !mayBeActive(runId, archive)) continue;
    const run = await history.read(runId);
    if (run !== null && !isFinished(run.state)) active.push(run);
  }
  return active;
}

function missingLogs(run: LoggedRun, filter: AttemptFilter): string | null {
  const paths = attemptsOf(run, filter)
    .filter((attempt) => !isGoingOn(run, attempt))
    .map(({ step, attempt }) => run.stored?.logs.file(step, attempt, 'output').path ?? null);
  const [path, ...others] = paths.filter((each) => each !== null && !existsSync(each));
  if (path === undefined) return null;
  const missing =
    others.length === 0 ? `${path} no longer exists` : `${path} and ${others.length} more no longer exist`;
  return `warning: ${missing}`;
}
