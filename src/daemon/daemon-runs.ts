import type { ProcessIdentity } from '../core/run/run.ts';
import type { PastRun } from '../service/history/past-run.ts';
import type { Carrier } from '../service/runs/launch-run.ts';
import { createRunDesk } from '../service/runs/local-desk.ts';
import { refuseQueued } from '../service/runs/queued-run.ts';
import type { AcceptedRun, RunDesk } from '../service/runs/run-desk.ts';
import type { StartRequest } from '../service/runs/runs.ts';
import type { StopTools } from '../service/runs/stop-run.ts';
import type { ReadWorkflow } from '../service/workflows/workflow-loader.ts';
import type { WorkflowPlaces } from '../service/workflows/workflows.ts';
import type { RunStamps } from './run-board.ts';
import { createRunWatch, type RunWatch, type RunWatchParts } from './run-watch.ts';
import { createStartQueue, type QueueLimits, type StartQueue } from './start-queue.ts';

/** What becomes of the runs of a daemon when it ends. */
export type RunsAtEnd = 'detach' | 'stop' | 'wait';

/** The runs of a daemon, from the moment in which they are asked for to their end, over its own death. */
export type DaemonRuns = {
  readonly desk: RunDesk;
  /** Finds out what daemons before have left: what waits gets its place in the queue, what has lost its process is settled. */
  readonly adopt: () => Promise<void>;
  /** From now on runs begin. */
  readonly open: () => void;
  /** From now on none begins; those that wait are for the next daemon. */
  readonly rest: () => void;
  /** Resolves when the runs of this daemon may be left. Runs of persons and of their shells are left alone. */
  readonly end: (how: RunsAtEnd) => Promise<void>;
  /** Resolves when nothing is looked at any more. */
  readonly close: () => Promise<void>;
  /** How many wait. */
  readonly depth: () => number;
  readonly queue: () => RunQueueState;
  /** How many go on, whoever started them. */
  readonly running: () => number;
};

/** The runs of a daemon that take a place, at most `limit`, and those that wait for one, in the order in which they start. */
export type RunQueueState = {
  readonly limit: number;
  readonly running: readonly string[];
  readonly waiting: readonly string[];
};

export type DaemonRunsParts = {
  readonly control: StopTools & {
    readonly places: WorkflowPlaces;
    readonly strict: boolean;
    readonly launch: (runId: string) => Carrier;
    readonly accept: (request: StartRequest) => Promise<AcceptedRun>;
  };
  /** Reads the workflow of an order. */
  readonly read: ReadWorkflow;
  readonly limits: QueueLimits;
  readonly isAlive: (process: ProcessIdentity) => boolean;
  readonly isElsewhere?: (process: ProcessIdentity) => boolean;
  readonly stamps: RunStamps;
  readonly memory: RunWatchParts['memory'];
  /** Ends what carriers that died have left in control groups of their own. */
  readonly endDeadGroups: () => Promise<void>;
  /** Told once of each run that is over. */
  readonly over: (run: PastRun) => void;
  /** Takes lines for whoever runs the daemon. */
  readonly log: (line: string) => void;
  readonly report: (error: unknown) => void;
};

/** Handlers and notices come after the grace in which a run's steps end. */
const handlingMs = 10_000;

/** Runs that are not looked at yet. */
export function createDaemonRuns(parts: DaemonRunsParts): DaemonRuns {
  const { control, limits, log, report } = parts;
  const queue = createStartQueue({
    limits,
    clock: control.clock,
    mayGoOn: control.archive.mayGoOn,
    launch: (runId) => {
      const carrier = control.launch(runId);
      void carrier.ended.then(parts.endDeadGroups).catch(report);
      return carrier;
    },
    refuse: (runId, message) => refuseQueued(runId, message, control),
    report,
  });
  const watch = watchFor(queue, parts);
  const desk = deskBefore(queue, parts);
  return {
    desk,
    adopt: async () => {
      parts.endDeadGroups().catch(report);
      await watch.open();
      const [waiting, running] = [queue.depth(), queue.running().length];
      if (waiting + running > 0) log(`took over ${runs(waiting)} waiting and ${runs(running)} going on`);
    },
    open: queue.open,
    rest: queue.close,
    end: (how) => endRuns(how, queue.running(), { ...parts, idle: queue.idle, stop: desk.stop }),
    close: watch.close,
    depth: queue.depth,
    queue: () => ({ limit: limits.running, running: queue.running(), waiting: queue.waiting() }),
    running: watch.running,
  };
}

/** A watch that keeps the queue up to date. */
function watchFor(queue: StartQueue, parts: DaemonRunsParts): RunWatch {
  const { control, log, over } = parts;
  return createRunWatch({
    ...parts,
    ...control,
    listener: {
      waits: queue.add,
      begun: (runId, isOurs) => {
        if (isOurs) queue.occupy(runId);
      },
      over: (run) => {
        queue.leave(run.runId);
        if (run.state.reason === 'lost') parts.endDeadGroups().catch(parts.report);
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

/** A desk whose runs go into the queue. */
function deskBefore(queue: StartQueue, { control, read }: DaemonRunsParts): RunDesk {
  const isThere = (runId: string) => control.archive.readCreated(runId) !== null;
  const desk = createRunDesk({
    places: control.places,
    read,
    strict: control.strict,
    // Who repeats a request is answered also when there is no room for another run.
    accept: async (request) =>
      queue.isFull() && request.runId !== null && isThere(request.runId)
        ? { runId: request.runId, isNew: false }
        : queue.admit(() => control.accept(request)),
    begin: async (runId) => queue.add(runId),
    stop: control,
  });
  return {
    ...desk,
    stop: async (runId, by) => {
      const answer = await desk.stop(runId, by);
      if (answer === 'canceled') queue.leave(runId);
      return answer;
    },
  };
}

type EndTools = Pick<DaemonRunsParts, 'control' | 'log' | 'report'> & {
  readonly idle: (signal: AbortSignal) => Promise<void>;
  readonly stop: RunDesk['stop'];
};

async function endRuns(how: RunsAtEnd, runIds: readonly string[], tools: EndTools): Promise<void> {
  const { log, idle } = tools;
  if (runIds.length === 0) return;
  switch (how) {
    case 'detach':
      return log(`${runs(runIds.length)} going on without a daemon`);
    case 'wait':
      log(`waiting for ${runs(runIds.length)} to end`);
      return idle(new AbortController().signal);
    case 'stop':
      return stopAll(runIds, tools);
  }
}

/** Not for longer than the most patient of them may take. */
async function stopAll(runIds: readonly string[], { control, stop, idle, log, report }: EndTools): Promise<void> {
  const { clock, archive } = control;
  log(`stopping ${runs(runIds.length)}`);
  const graces = runIds.map((runId) => archive.read(runId)?.workflow.graceMs ?? 0);
  const impatience = new AbortController();
  const takeBackTimer = clock.setTimer(clock.now() + Math.max(...graces) + handlingMs, () => {
    log('some runs are still ending: they are left to themselves');
    impatience.abort();
  });
  const asked = runIds.map((runId) => stop(runId, 'the daemon, which is ending').catch(report));
  await Promise.all([...asked, idle(impatience.signal)]);
  takeBackTimer();
}

function runs(count: number): string {
  return count === 1 ? '1 run' : `${count} runs`;
}
