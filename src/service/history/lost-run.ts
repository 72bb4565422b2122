import { dirname } from 'node:path';
import type { Owner, ProcessIdentity, RunEvent, StoredEvent } from '../../core/run/run.ts';
import { isActive, isFinished, type RunState, stepState } from '../../core/run/run-state.ts';
import { transition } from '../../core/run/transition.ts';
import { allSteps, type Workflow } from '../../core/workflow.ts';
import type { Clock } from '../../engine/clock.ts';
import type { BackgroundProcesses, Leader } from '../../engine/engine.ts';
import { WfError } from '../../errors.ts';
import type { OwnerVerdict, RunArchive, RunJournal, RunQueue } from '../../store/store.ts';
import { type PastRun, readPastRun } from './past-run.ts';

/** What finding lost runs and ending what is left of them takes. */
export type LostRunTools = WaitAgainTools & {
  readonly archive: RunArchive;
  readonly clock: Clock;
  /** False only for a process that is gone for certain. */
  readonly isAlive: (process: ProcessIdentity) => boolean;
  /** Of another namespace or machine, so that its number tells nothing here; absent: none is. */
  readonly isElsewhere?: (process: ProcessIdentity) => boolean;
  readonly processes: Pick<BackgroundProcesses, 'find' | 'end'>;
};

/** The longest that what is left of a run may take to end by itself. */
const longestGraceMs = 5000;
const lookAgainMs = 50;
const longestWaitMs = 15_000;

/**
 * Whether the process that runs a run, or is to start it, lives. `gone` of a run that is not finished: it is lost. What a daemon
 * has accepted waits for the next one.
 */
export async function judgeRun(
  { runId, state }: PastRun,
  { archive, isAlive, isElsewhere = () => false }: Pick<LostRunTools, 'archive' | 'isAlive' | 'isElsewhere'>,
): Promise<OwnerVerdict> {
  const { owner, promise } = state;
  if (owner === null && promise?.lasting) return 'alive';
  const carrier = owner ?? promise?.by ?? null;
  // Only just made, or its process died before its first event.
  if (carrier === null) return ask(runId, archive, 'gone');
  if (!isAlive(carrier)) return 'gone';
  if (!isElsewhere(carrier)) return 'alive';
  return owner === null ? 'unknown' : ask(runId, archive, 'unknown');
}

/** What cannot be read of the owner cannot be taken over either. */
async function ask(runId: string, archive: RunArchive, otherwise: OwnerVerdict): Promise<OwnerVerdict> {
  try {
    return await archive.judgeOwner(runId);
  } catch (error) {
    if (error instanceof WfError) return otherwise;
    throw error;
  }
}

/** Whether a run is not finished, and lost. */
export async function isLost(run: PastRun, tools: Parameters<typeof judgeRun>[1]): Promise<boolean> {
  return !isFinished(run.state) && (await judgeRun(run, tools)) === 'gone';
}

/**
 * Settles a run whose owner has died: ends its processes that still live, and the runs that were steps of it, and records
 * that it was lost, or that it waits again. Of several processes that find it one does this, the others wait for that.
 */
export async function settleLostRun(run: PastRun, tools: LostRunTools): Promise<PastRun> {
  const { archive, clock } = tools;
  const deadline = clock.now() + longestWaitMs;
  for (let found = run; ; ) {
    const journal = takeOver(found, tools);
    if (journal === 'impossible') return asLost(found, clock.now());
    if (journal !== 'taken') return (await settle(journal, found, tools)) ?? found;
    // Without an owner on record it is a run that has only just been made.
    if (found.state.owner === null || clock.now() > deadline) return found;
    await new Promise<void>((resolve) => clock.setTimer(clock.now() + lookAgainMs, resolve));
    found = readPastRun(archive, run.runId) ?? found;
    if (isFinished(found.state) || !hasSameOwner(found.state, run.state)) return found;
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

/** Where nothing can be written, the end of the run can still be shown. */
function asLost(run: PastRun, at: number): PastRun {
  return { ...run, state: transition(run.state, { type: 'lost', at, message: lostMessage(run.state) }).run };
}

async function settle(journal: RunJournal, found: PastRun, tools: LostRunTools): Promise<PastRun | null> {
  let waitsAgain = false;
  try {
    // Its owner may have written more after it was read.
    const run = readPastRun(tools.archive, journal.runId) ?? found;
    if (!isFinished(run.state)) {
      await settleStepRuns(run, tools);
      const warnings = [...found.damage, ...(await endLeftovers(run, tools))];
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

/** Taking a journal over cuts off what is damaged in it, so that the damage would never be told of again. */
function endOf({ state }: PastRun, damage: readonly string[], at: number): readonly RunEvent[] {
  const warnings = damage.map((message): RunEvent => ({ type: 'run.warned', at, step: null, message }));
  return [...warnings, ...transition(state, { type: 'lost', at, message: lostMessage(state) }).events];
}

function lostMessage({ owner, promise }: RunState): string {
  if (promise !== null) return `process ${promise.by.pid} died before it could start it`;
  return owner === null ? 'its process died' : `its process ${owner.pid} died`;
}

/**
 * Answers what to warn of. Processes of another namespace are left alone: the numbers on record are not theirs here, and those that
 * are visible may be of another home.
 */
async function endLeftovers(
  { runId, state, stored }: PastRun,
  { processes, leftBy = () => 'here' }: LostRunTools,
): Promise<readonly string[]> {
  const place = state.owner === null ? 'here' : leftBy(state.owner);
  if (place === 'elsewhere') return [leftElsewhere(state.owner?.host ?? '')];
  if (stored === null || place === 'none') return [];
  const spared = sparedSteps(stored.workflow, state);
  const recorded = leaders(stored.events).flatMap(({ step, leader }) => (spared.has(step) ? [] : [leader]));
  const [step] = allSteps(stored.workflow);
  if (step === undefined) return [];
  const logs = dirname(stored.logPaths(step.name, 1).stdoutPath);
  const left = processes.find({ runId, logs }, { recorded, spared, since: null });
  const graceMs = Math.min(stored.workflow.graceMs, longestGraceMs);
  if (left.length > 0) await processes.end(left, { signal: 'SIGTERM', graceMs });
  return [];
}

function leftElsewhere(host: string): string {
  return `processes that its steps started in another PID namespace, on "${host}", may still run: they cannot be ended from here`;
}

/** What a step was still at when the run was lost is ended in any case; only what it left behind can be spared. */
function sparedSteps(workflow: Workflow, state: RunState): ReadonlySet<string> {
  const spared = allSteps(workflow).filter(
    ({ name, leaveBackground }) => leaveBackground && !isActive(stepState(state, name)),
  );
  return new Set(spared.map(({ name }) => name));
}

/** The processes that led the attempts, with the times at which they ended. */
function leaders(events: readonly StoredEvent[]): readonly { readonly step: string; readonly leader: Leader }[] {
  const ends = new Map<string, number>();
  for (const event of events) {
    if (event.type === 'step.finished' || event.type === 'step.waiting') ends.set(attemptKey(event), event.at);
  }
  return events.flatMap((event) => {
    if (event.type !== 'step.started' || event.process === null) return [];
    const endedAt = ends.get(attemptKey(event));
    return [{ step: event.step, leader: { ...event.process, ...(endedAt === undefined ? {} : { endedAt }) } }];
  });
}

function attemptKey({ step, attempt }: { readonly step: string; readonly attempt: number }): string {
  return `${attempt} ${step}`;
}

/** A workflow that is a step of another is a run of its own, with the same owner, made later. */
async function settleStepRuns({ runId, state }: PastRun, tools: LostRunTools): Promise<void> {
  const ids = tools.archive.list();
  for (const id of ids.slice(0, ids.indexOf(runId))) {
    if (tools.archive.readCreated(id)?.trigger !== 'workflow') continue;
    const run = readPastRun(tools.archive, id);
    if (run !== null && hasSameOwner(run.state, state) && (await isLost(run, tools))) await settleLostRun(run, tools);
  }
}

function hasSameOwner({ owner: one }: RunState, { owner: other }: RunState): boolean {
  if (one === null || other === null) return false;
  return one.pid === other.pid && one.startTime === other.startTime && one.namespace === other.namespace;
}

/** What the decision takes. */
type WaitAgainTools = {
  /** Absent: no run waits again. */
  readonly queue?: Pick<RunQueue, 'readLaunch'>;
  /** Where processes are that the owner may have left; absent: here. */
  readonly leftBy?: (owner: Owner) => 'here' | 'elsewhere' | 'none';
};

const mostRestarts = 3;

/**
 * The event by which a lost run waits for a daemon again, or null for a run that ends as lost. Only a run that a daemon accepted
 * and whose first step was not scheduled yet waits again. After a crash of the machine the journal may lack events that were
 * never flushed, and so may a damaged one: neither tells that no step has started.
 */
function waitAgain(run: PastRun, tools: WaitAgainTools, at: number): RunEvent | null {
  const { state, stored, damage, runId } = run;
  if (stored === null || state.owner === null || state.startedAt !== null || state.cancellation !== null) return null;
  if (damage.length > 0 || (tools.leftBy?.(state.owner) ?? 'here') !== 'here') return null;
  const queued = stored.events.find(({ type }) => type === 'run.queued');
  if (queued?.type !== 'run.queued' || !queued.lasting) return null;
  const starts = stored.events.filter(({ type }) => type === 'run.owned').length;
  if (starts > mostRestarts || (tools.queue?.readLaunch(runId) ?? null) === null) return null;
  return { type: 'run.queued', at, by: queued.by, lasting: true };
}
