import { given } from '#core/data/collections.ts';
import { attemptKey, endsAttempt } from '#core/run/outcome.ts';
import { ownerName, type ProcessOwner, type RunEvent, type StoredEvent } from '#core/run/run.ts';
import { isActive, isFinished, type RunState, stepState } from '#core/run/run-state.ts';
import { transition } from '#core/run/transition.ts';
import type { BackgroundProcesses, CatchUp, Engine, Leader, RunRef, Waits } from '#engine/engine.ts';
import type { RunArchive, RunJournal, RunQueue } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { WfError } from '#system/errors.ts';
import { isUnknown, type PastRun, readPastRun } from './past-run.ts';

/** Determines whether what carries out a run, or is to start it, still exists. */
export type JudgeOwner = Engine['judge'];

/** The dependencies of finding lost runs and ending their processes. */
export type LostRunTools = {
  readonly archive: RunArchive;
  readonly clock: Clock;
  readonly judge: JudgeOwner;
  readonly processes: Pick<BackgroundProcesses, 'find' | 'end'>;
  /** Absent: runs of other engines stay as they were copied. */
  readonly catchUp?: CatchUp;
  /** Absent: what runs of other engines wait for is not known. */
  readonly waitsOf?: Waits;
  /** Absent: no run waits again. */
  readonly queue?: Pick<RunQueue, 'readLaunch'>;
  /** Returns the location of processes that the owner may have left; absent: here. */
  readonly leftBy?: (owner: ProcessOwner) => 'here' | 'elsewhere' | 'none';
  /** Removes containers of dead owners from Docker daemons; resolves to the problems. Absent: containers stay. */
  readonly removeContainers?: (daemons: readonly string[]) => Promise<readonly string[]>;
};

/** The grace period for the remaining processes of a lost run. */
const LONGEST_GRACE_MS = 5000;
const LOOK_AGAIN_MS = 50;
const LONGEST_WAIT_MS = 15_000;

/** Whether a run is lost: unfinished, and its owner is gone. */
export async function isLost(run: PastRun, { judge }: Pick<LostRunTools, 'judge'>): Promise<boolean> {
  return !isFinished(run.state) && (await judge(referenceTo(run))) === 'gone';
}

/** A run for its engine. */
export function referenceTo({ runId, state: { owner, promise } }: PastRun): RunRef {
  return { runId, owner, promise };
}

/**
 * Settles a run whose owner has died: ends its remaining processes and its sub-workflow runs, and records that the run
 * was lost, or that it waits again. If several processes find the run, one settles it and the others wait.
 */
export async function settleLostRun(run: PastRun, tools: LostRunTools): Promise<PastRun> {
  const { archive, clock } = tools;
  const deadline = clock.now() + LONGEST_WAIT_MS;
  for (let found = run; ; ) {
    const journal = takeOver(found, tools);
    if (journal === 'impossible') return asLost(found, clock.now());
    if (journal !== 'taken') return (await settle(journal, found, tools)) ?? found;
    // A run without a recorded owner is new.
    if (found.state.owner === null || clock.now() > deadline) return found;
    await new Promise<void>((resolve) => clock.setTimer(clock.now() + LOOK_AGAIN_MS, resolve));
    found = readPastRun(archive, run.runId) ?? found;
    if (isFinished(found.state) || !hasSameOwner(found.state, run.state)) return found;
  }
}

/**
 * Removes the files, possibly with secrets, of a process that died after recording the end of its run. If the disk refuses
 * it, they stay.
 */
export async function releaseFinished(
  run: PastRun,
  { archive, judge }: Pick<LostRunTools, 'archive' | 'judge'>,
): Promise<void> {
  const { runId, state } = run;
  if (!isFinished(state) || state.owner === null) return;
  try {
    if (archive.mayGoOn(runId) && (await judge(referenceTo(run))) === 'gone')
      await archive.openForRecovery(runId).close();
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
  }
}

function takeOver({ runId }: PastRun, { archive }: LostRunTools): RunJournal | 'taken' | 'impossible' {
  try {
    return archive.openForRecovery(runId);
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return error.code === 'run-active' ? 'taken' : 'impossible';
  }
}

/** Returns the run as lost without recording it, for a disk that refuses writes. */
function asLost(run: PastRun, at: number): PastRun {
  const message = isUnknown(run) ? 'its files cannot be read' : lostMessage(run.state);
  return { ...run, state: transition(run.state, { type: 'lost', at, message }).run };
}

async function settle(journal: RunJournal, found: PastRun, tools: LostRunTools): Promise<PastRun | null> {
  let waitsAgain = false;
  try {
    // The owner may have written more events after the run was read.
    const run = readPastRun(tools.archive, journal.runId) ?? found;
    if (!isFinished(run.state)) {
      await settleStepRuns(run, tools);
      const warnings = [...found.damage, ...(await endLeftovers(run, tools)), ...(await endContainers(run, tools))];
      const at = tools.clock.now();
      const queued = warnings.length === 0 ? waitAgain(run, tools, at) : null;
      journal.append(queued === null ? endOf(run, warnings, at) : [queued]);
      waitsAgain = queued !== null;
    }
  } finally {
    await (waitsAgain ? journal.handBack() : journal.close());
  }
  return readPastRun(tools.archive, journal.runId);
}

/** Returns the last events. Claiming a journal truncates its damaged end, so the damage is recorded as a warning. */
function endOf({ state }: PastRun, damage: readonly string[], at: number): readonly RunEvent[] {
  const warnings = damage.map((message): RunEvent => ({ type: 'run.warned', at, step: null, message }));
  return [...warnings, ...transition(state, { type: 'lost', at, message: lostMessage(state) }).events];
}

function lostMessage({ owner, promise }: RunState): string {
  if (promise !== null) return `process ${promise.by.pid} died before it could start it`;
  if (owner === null) return 'its process died';
  return 'engine' in owner ? `${ownerName(owner)} knows it no longer` : `its process ${owner.pid} died`;
}

/** Ends the remaining processes, but none of another namespace, where pids mean others; returns warnings. */
async function endLeftovers(
  { runId, state, stored }: PastRun,
  { processes, leftBy = () => 'here' }: LostRunTools,
): Promise<readonly string[]> {
  const { owner } = state;
  // The workers of another engine end their processes themselves.
  if (stored === null || (owner !== null && 'engine' in owner)) return [];
  const where = owner === null ? 'here' : leftBy(owner);
  if (where === 'elsewhere') {
    const host = `in another PID namespace, on "${owner?.host}"`;
    return [`processes that its steps started ${host}, may still run: they cannot be ended from here`];
  }
  if (where === 'none') return [];
  const spared = sparedSteps(state);
  const recorded = leaders(stored.events).flatMap(({ step, leader }) => (spared.has(step) ? [] : [leader]));
  const left = processes.find({ runId, logs: stored.logs.directory }, { recorded, spared, since: null });
  const graceMs = Math.min(stored.workflow.graceMs, LONGEST_GRACE_MS);
  if (left.length > 0) await processes.end(left, { signal: 'SIGTERM', graceMs });
  return [];
}

/** Containers of steps and of the run itself do not end with its owner. */
async function endContainers(
  { stored }: PastRun,
  { removeContainers }: Pick<LostRunTools, 'removeContainers'>,
): Promise<readonly string[]> {
  const events = stored?.events ?? [];
  const daemons = new Set(events.flatMap((event) => (event.type === 'step.contained' ? [event.daemon] : [])));
  return daemons.size === 0 || removeContainers === undefined ? [] : removeContainers([...daemons]);
}

/** Returns the steps whose background processes may survive. Processes of running steps are always ended. */
function sparedSteps(state: RunState): ReadonlySet<string> {
  const spared = state.graph.nodes.filter(
    ({ name, leaveBackground }) => leaveBackground && !isActive(stepState(state, name)),
  );
  return new Set(spared.map(({ name }) => name));
}

/** Returns the main processes of the attempts, with the times at which they ended. */
function leaders(events: readonly StoredEvent[]): readonly { readonly step: string; readonly leader: Leader }[] {
  const ends = new Map<string, number>();
  for (const event of events) {
    if (endsAttempt(event)) ends.set(attemptKey(event), event.at);
  }
  return events.flatMap((event) => {
    if (event.type !== 'step.started' || event.process === null) return [];
    const endedAt = ends.get(attemptKey(event));
    return [{ step: event.step, leader: { ...event.process, ...given({ endedAt }) } }];
  });
}

/** Settles the runs of sub-workflows, which have the same owner and were created later. */
async function settleStepRuns({ runId, state }: PastRun, tools: LostRunTools): Promise<void> {
  const ids = tools.archive.list();
  for (const id of ids.slice(0, ids.indexOf(runId))) {
    if (tools.archive.readCreated(id)?.trigger !== 'workflow') continue;
    const run = readPastRun(tools.archive, id);
    if (run !== null && hasSameOwner(run.state, state) && (await isLost(run, tools))) await settleLostRun(run, tools);
  }
}

function hasSameOwner({ owner: one }: RunState, { owner: other }: RunState): boolean {
  if (one === null || other === null || 'engine' in one || 'engine' in other) return false;
  return one.pid === other.pid && one.startTime === other.startTime && one.namespace === other.namespace;
}

const MOST_RESTARTS = 3;

/**
 * Returns the event by which a lost run waits for a daemon again, or null if the run ends as lost. A run waits again
 * only if a daemon accepted it and its first step was not scheduled yet. A damaged journal, or one from before a crash
 * of the machine, may lack events, so it is no proof that no step has started.
 */
function waitAgain(run: PastRun, tools: LostRunTools, at: number): RunEvent | null {
  const { state, stored, damage, runId } = run;
  const { owner } = state;
  if (stored === null || owner === null || 'engine' in owner) return null;
  if (state.startedAt !== null || state.cancellation !== null) return null;
  if (damage.length > 0 || (tools.leftBy?.(owner) ?? 'here') !== 'here') return null;
  const queued = stored.events.find(({ type }) => type === 'run.queued');
  if (queued?.type !== 'run.queued' || !queued.lasting) return null;
  const starts = stored.events.filter(({ type }) => type === 'run.owned').length;
  if (starts > MOST_RESTARTS || (tools.queue?.readLaunch(runId) ?? null) === null) return null;
  return { type: 'run.queued', at, by: queued.by, lasting: true };
}
