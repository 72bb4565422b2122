import type { StopTools } from '#service/control-runs.ts';
import { type PastRun, readPastRun } from '#service/history.ts';
import type { RunActions } from '#service/service.ts';
import {
  type Carrier,
  createLocalRuns,
  type LocalRunTools,
  refuseQueued,
  type StartOfRuns,
} from '#service/start-runs.ts';
import type { ReadWorkflow, WorkflowDirectories } from '#service/workflows.ts';
import { createTurns } from '#system/turns.ts';
import { createRunIndex, type RunIndex } from './run-index.ts';
import { type LifecycleParts, ownerIn } from './run-lifecycle.ts';
import { createSpacedWork, type SpacedWork } from './spaced-work.ts';
import { type QueueLimits, StartQueue } from './start-queue.ts';

/** The treatment of a daemon's runs when it exits. */
export type RunsAtEnd = 'detach' | 'stop' | 'wait';

/** The runs of a daemon from request to finish; they survive the daemon. */
export type DaemonRuns = {
  readonly actions: RunActions;
  readonly runIndex: RunIndex;
  /** Takes over the runs of earlier daemons: waiting runs are queued, lost runs are settled. */
  readonly adopt: () => Promise<void>;
  /** Begins to start runs. */
  readonly open: () => void;
  /** Stops starting runs; waiting runs remain for the next daemon. */
  readonly rest: () => void;
  /** Resolves when the daemon may exit. Runs that users started from a shell are not affected. */
  readonly end: (how: RunsAtEnd) => Promise<void>;
  /** Stops all checks and resolves when the last has finished. */
  readonly close: () => Promise<void>;
  /** Returns the number of waiting runs. */
  readonly depth: () => number;
  readonly queue: () => RunQueueState;
  readonly queueNamed: StartQueue['stateOf'];
  readonly putFirst: StartQueue['putFirst'];
};

/** The active runs of a daemon, at most `limit`, and its waiting runs in their starting order. */
export type RunQueueState = {
  readonly limit: number;
  readonly running: readonly string[];
  readonly waiting: readonly string[];
};

export type DaemonRunsParts = {
  readonly control: Omit<StopTools, 'engine'> & {
    readonly archive: LifecycleParts['archive'];
    readonly control: LocalRunTools['control'];
    readonly directories: WorkflowDirectories;
    readonly strict: boolean;
    readonly launch: (runId: string) => Carrier;
    readonly env: LocalRunTools['env'];
    readonly checked: NonNullable<LocalRunTools['checked']>;
    readonly store: StartOfRuns['store'];
    /** Creates the engine that stores runs and begins them in these ways. */
    readonly engineFor: (start: StartOfRuns) => LocalRunTools['engine'];
  };
  /** Reads the workflow of an order. */
  readonly read: ReadWorkflow;
  readonly limits: QueueLimits;
  readonly judge: LifecycleParts['judge'];
  readonly memory: LifecycleParts['memory'];
  /** Ends the processes that dead carriers left in their control groups. */
  readonly endDeadGroups: () => Promise<void>;
  /** Called once for each finished run. */
  readonly over: (run: PastRun) => void;
  /** Receives lines for the operator of the daemon. */
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** The time for handlers and notifications, after the grace period of a run's steps. */
const handlingMs = 10_000;
/** Node blocks the event loop until the new process has begun its program: tens of milliseconds on a busy machine. */
const LAUNCHES_PER_TURN = 1;
/** Hundreds of runs may end at once. */
const groupPauseMs = 1000;

/** Creates the runs of a daemon; `adopt` reads them. */
export function createDaemonRuns(parts: DaemonRunsParts): DaemonRuns {
  const { control, limits, log, report } = parts;
  const deadGroups = createSpacedWork({
    work: parts.endDeadGroups,
    pauseMs: groupPauseMs,
    clock: control.clock,
    report,
  });
  const queue = new StartQueue({
    limits,
    clock: control.clock,
    mayGoOn: control.archive.mayGoOn,
    lineOf: (runId) => {
      const created = control.archive.readCreated(runId);
      const { queue = null, file, workflow = runId, maxConcurrent } = created ?? {};
      return { queue, workflow: file ?? workflow, maxConcurrent: maxConcurrent ?? Number.POSITIVE_INFINITY };
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
    adopt: async () => {
      deadGroups.ask();
      await runIndex.open();
      const [waiting, running] = [queue.depth(), queue.running().length];
      if (waiting + running > 0) log(`took over ${waiting} waiting and ${running} running runs`);
    },
    open: queue.open,
    rest: queue.close,
    end: (how) => endRuns(how, queue.running(), { ...parts, idle: queue.idle, owned: queue.owned, stop: actions.stop }),
    close: async () => {
      await runIndex.close();
      await deadGroups.close();
    },
    depth: queue.depth,
    queue: () => ({ limit: limits.running, running: queue.slots(), waiting: queue.waiting() }),
    queueNamed: queue.stateOf,
    putFirst: queue.putFirst,
  };
}

/** Creates an index that keeps the queue up to date. */
function indexFor(queue: StartQueue, deadGroups: SpacedWork, parts: DaemonRunsParts): RunIndex {
  const { control, log, over } = parts;
  return createRunIndex({
    ...parts,
    ...control,
    listener: {
      waits: queue.add,
      begun: (runId, isOurs) => {
        if (isOurs) queue.occupy(runId);
        else queue.countGuest(runId);
      },
      held: queue.hold,
      over: (run) => {
        queue.leave(run.runId);
        if (run.state.reason === 'lost') deadGroups.ask();
        if (run.state.reason === 'lost') log(`run ${run.runId} of "${run.state.workflow}": ${run.state.message}`);
        over(run);
      },
      waitsAgain: ({ runId, state }) => {
        queue.leave(runId);
        log(`run ${runId} of "${state.workflow}": its process died before the first step, so it starts again`);
      },
      gone: queue.leave,
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
  const { startLoaded: _, ...actions } = createLocalRuns({
    ...control,
    read,
    engine,
  });
  return {
    ...actions,
    stop: async (runId, request) => {
      const answer = await actions.stop(runId, request);
      if (answer.result === 'canceled') queue.leave(runId);
      return answer;
    },
  };
}

type EndTools = Pick<DaemonRunsParts, 'control' | 'log' | 'report'> & {
  readonly idle: StartQueue['idle'];
  readonly owned: StartQueue['owned'];
  readonly stop: RunActions['stop'];
};

async function endRuns(how: RunsAtEnd, runIds: readonly string[], tools: EndTools): Promise<void> {
  const { log, idle } = tools;
  if (runIds.length === 0) return;
  switch (how) {
    case 'detach':
      return log(`${runs(runIds.length)} left running without a daemon`);
    case 'wait':
      log(`waiting for ${runs(runIds.length)} to finish`);
      return idle(new AbortController().signal);
    case 'stop':
      return stopAll(runIds, tools);
  }
}

/** Stops all runs and waits at most for the longest grace period. */
async function stopAll(runIds: readonly string[], tools: EndTools): Promise<void> {
  const { idle, log, report } = tools;
  const { clock, archive } = tools.control;
  log(`stopping ${runs(runIds.length)}`);
  const graces = runIds.map((runId) => readPastRun(archive, runId)?.stored?.workflow.graceMs ?? 0);
  const impatience = new AbortController();
  const cancelTimer = clock.setTimer(clock.now() + Math.max(...graces) + handlingMs, () => {
    log('some runs are still stopping and continue without a daemon');
    impatience.abort();
  });
  const asked = runIds.map((runId) => stopOwned(runId, impatience.signal, tools).catch(report));
  await Promise.all([...asked, idle(impatience.signal)]);
  cancelTimer();
}

/** A run whose process is being started counts as waiting until then, and a stop would cancel it. */
async function stopOwned(runId: string, signal: AbortSignal, { owned, stop }: EndTools): Promise<void> {
  if (await owned(runId, signal)) await stop(runId, { by: 'the daemon, which is exiting', kill: 'never' });
}

function runs(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`;
}
