import { type PastRun, readPastRun } from '#service/history.ts';
import type { RunActions } from '#service/service.ts';
import {
  type Carrier,
  createLocalRuns,
  type LocalRunTools,
  recordLate,
  refuseQueued,
  type StartOfRuns,
} from '#service/start-runs.ts';
import type { ReadWorkflow } from '#service/workflows.ts';
import { createTurns } from '#system/turns.ts';
import { LateStarts } from './late-starts.ts';
import { RunIndex } from './run-index.ts';
import { type LifecycleParts, ownerIn } from './run-lifecycle.ts';
import { SpacedWork } from './spaced-work.ts';
import { type QueueLimits, StartQueue } from './start-queue.ts';

/** The treatment of a daemon's runs when it exits. */
export type RunsAtEnd = 'detach' | 'stop' | 'wait';

type DaemonRunsParts = {
  readonly control: Omit<LocalRunTools, 'engine' | 'read'> & {
    readonly launch: (runId: string) => Carrier;
    readonly store: StartOfRuns['store'];
    readonly engineFor: (start: StartOfRuns) => LocalRunTools['engine'];
  };
  readonly read: ReadWorkflow;
  readonly limits: QueueLimits;
  readonly judge: LifecycleParts['judge'];
  readonly memory: LifecycleParts['memory'];
  /** Ends the processes that dead carriers left in their control groups. */
  readonly endDeadGroups: () => Promise<void>;
  /** Called once for each finished run. */
  readonly over: (run: PastRun) => void;
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** The time for handlers and notifications, after the grace period of a run's steps. */
const HANDLING_MS = 10_000;
/** Node blocks the event loop until the new process has begun its program: tens of milliseconds on a busy machine. */
const LAUNCHES_PER_TURN = 1;
/** Hundreds of runs may end at once. */
const GROUP_PAUSE_MS = 1000;

/** Creates the runs of a daemon from request to finish, which survive it; `adopt` reads them. */
export function createDaemonRuns(parts: DaemonRunsParts) {
  const { control, limits, log, report } = parts;
  const deadGroups = new SpacedWork({
    work: parts.endDeadGroups,
    pauseMs: () => GROUP_PAUSE_MS,
    clock: control.clock,
    report,
  });
  const queue = new StartQueue({
    limits,
    clock: control.clock,
    mayGoOn: control.archive.mayGoOn,
    lineOf: (runId) => {
      const created = control.archive.readCreated(runId);
      const { queue = null, file, workflow = runId, maxConcurrent = Number.POSITIVE_INFINITY, trigger } = created ?? {};
      return { queue, workflow: file ?? workflow, maxConcurrent, isLow: trigger === 'backfill' };
    },
    isWaiting: (runId) => control.archive.mayGoOn(runId) && ownerIn(control.archive.readEvents(runId).events) === null,
    findGuests: () => runIndex.checkUnfinished(),
    launch: (runId) => {
      const carrier = control.launch(runId);
      void carrier.ended.then(deadGroups.ask);
      return carrier;
    },
    takeTurn: createTurns(LAUNCHES_PER_TURN),
    refuse: (runId, message) => refuseQueued(runId, message, control),
    report,
  });
  const runIndex: RunIndex = indexFor(queue, deadGroups, parts);
  const actions = actionsBefore(queue, parts);
  return {
    actions,
    runIndex,
    startQueue: queue,
    /** The active runs, at most `limit`, and the waiting ones in their starting order. */
    queue: () => ({ limit: limits.running, running: queue.slots(), waiting: queue.waiting() }),
    /** Takes over the runs of earlier daemons: waiting runs are queued, lost runs are settled. */
    adopt: async (): Promise<void> => {
      deadGroups.ask();
      await runIndex.open();
      const [waiting, running] = [queue.depth(), queue.running().length];
      if (waiting + running > 0) log(`took over ${waiting} waiting and ${running} running runs`);
    },
    /** Resolves when the daemon may exit. Runs that users started from a shell are not affected. */
    end: (how: RunsAtEnd): Promise<void> => endRuns(how, queue, { ...parts, stop: actions.stop }),
    /** Stops all checks and resolves when the last has finished. */
    close: async (): Promise<void> => {
      await runIndex.close();
      await deadGroups.close();
    },
  };
}

function indexFor(queue: StartQueue, deadGroups: SpacedWork, parts: DaemonRunsParts): RunIndex {
  const { control, log, over, report } = parts;
  const { archive, clock } = control;
  const late = new LateStarts({
    clock,
    readCreated: archive.readCreated,
    isQueued: queue.isQueued,
    record: (runId) => recordLate(runId, control),
    log,
    report,
  });
  const leave = (runId: string) => {
    late.forget(runId);
    queue.leave(runId);
  };
  return new RunIndex({
    ...parts,
    ...control,
    listener: {
      waits: (runId) => {
        queue.add(runId);
        late.check(runId);
      },
      begun: (runId, isOurs) => {
        late.forget(runId);
        if (isOurs) queue.occupy(runId);
        else queue.countGuest(runId);
      },
      held: queue.hold,
      over: (run) => {
        leave(run.runId);
        if (run.state.reason === 'lost') deadGroups.ask();
        if (run.state.reason === 'lost') log(`run ${run.runId} of "${run.state.workflow}": ${run.state.message}`);
        over(run);
      },
      waitsAgain: ({ runId, state }) => {
        leave(runId);
        log(`run ${runId} of "${state.workflow}": its process died before the first step, so it starts again`);
      },
      gone: leave,
    },
  });
}

/** Creates the actions on runs, which put new runs into the queue. */
function actionsBefore(queue: StartQueue, { control, read }: DaemonRunsParts): RunActions {
  const isThere = (runId: string) => control.archive.readCreated(runId) !== null;
  const engine = control.engineFor({
    store: async (request) => {
      const { runId } = request;
      // A repeated request is answered even if the queue is full.
      if (queue.isFull() && isThere(runId)) return { runId, isNew: false };
      return queue.admit(runId, () => control.store(request));
    },
    begin: async (runId) => queue.add(runId),
  });
  const { startLoaded: _, ...actions } = createLocalRuns({ ...control, read, engine });
  return {
    ...actions,
    stop: async (runId, request) => {
      const answer = await actions.stop(runId, request);
      if (answer.result === 'canceled') queue.leave(runId);
      return answer;
    },
  };
}

type EndTools = Pick<DaemonRunsParts, 'control' | 'log' | 'report'> & { readonly stop: RunActions['stop'] };

async function endRuns(how: RunsAtEnd, queue: StartQueue, tools: EndTools): Promise<void> {
  const count = queue.running().length;
  const runs = count === 1 ? '1 run' : `${count} runs`;
  if (count === 0) return;
  switch (how) {
    case 'detach':
      return tools.log(`${runs} left running without a daemon`);
    case 'wait':
      tools.log(`waiting for ${runs} to finish`);
      return queue.idle(new AbortController().signal);
    case 'stop':
      tools.log(`stopping ${runs}`);
      return stopAll(queue, tools);
  }
}

/** Stops all runs and waits at most for the longest grace period. */
async function stopAll(queue: StartQueue, { stop, log, report, control }: EndTools): Promise<void> {
  const { clock, archive } = control;
  const runIds = queue.running();
  const graces = runIds.map((runId) => readPastRun(archive, runId)?.stored?.workflow.graceMs ?? 0);
  const impatience = new AbortController();
  const cancelTimer = clock.setTimer(clock.now() + Math.max(...graces) + HANDLING_MS, () => {
    log('some runs are still stopping and continue without a daemon');
    impatience.abort();
  });
  const ask = async (runId: string) => {
    // A run whose process is being started counts as waiting until then, and a stop would cancel it.
    const isOwned = await queue.owned(runId, impatience.signal);
    if (isOwned) await stop(runId, { by: 'the daemon, which is exiting', kill: 'never' });
  };
  await Promise.all([...runIds.map((runId) => ask(runId).catch(report)), queue.idle(impatience.signal)]);
  cancelTimer();
}
