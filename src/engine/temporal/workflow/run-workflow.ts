import {
  condition,
  defineQuery,
  defineSignal,
  makeContinueAsNewFunc,
  setHandler,
  workflowInfo,
} from '@temporalio/workflow';
import {
  type AnswerOrder,
  type AttemptProgress,
  type CarriedRun,
  CORE,
  EARLIER_CORES,
  type EngineEvents,
  type EngineResult,
  type EngineRun,
  NAMES,
  type QueuedNotice,
  RUN_TYPE,
  runType,
  type StopOrder,
} from '../protocol.ts';
import { TemporalRun } from './temporal-run.ts';

/** By its type, `QUEUE_TYPE`. */
export { queueWorkflow as 'wf.queue.1' } from './queue-workflow.ts';

/** The workflow of a run. Fails, without a retry, on an internal error. `carried`: of a run that is continued. */
async function runWorkflow(run: EngineRun, carried?: CarriedRun): Promise<EngineResult> {
  const hosted = new TemporalRun(run, carried ?? null);
  hosted.begin();
  setHandler(defineQuery<EngineEvents, [number, boolean?]>(NAMES.events), (after, all) =>
    hosted.shown(after, all === true),
  );
  setHandler(defineSignal<[StopOrder]>(NAMES.stop), (order) => hosted.cancel(order));
  setHandler(defineSignal<[AnswerOrder]>(NAMES.answer), (answer) => hosted.answer(answer));
  setHandler(defineSignal<[AttemptProgress]>(NAMES.progress), (progress) => hosted.progress(progress));
  setHandler(defineSignal<[QueuedNotice]>(NAMES.queued), (notice) => hosted.queued(notice));
  let left: CarriedRun | null = null;
  try {
    do {
      // It is looked at when nothing else is left to do: what comes before belongs to what the run carries.
      await condition(() => hosted.hasFinished || (hosted.isLeaving && hosted.isDelivered));
      left = hosted.leave();
    } while (left === null && !hosted.hasFinished);
  } finally {
    // The next execution has the slots of this one.
    if (left === null) await hosted.leaveQueues();
  }
  if (left === null) return hosted.result();
  const { workflow, trigger } = run.request;
  return makeContinueAsNewFunc<typeof runWorkflow>({
    workflowType: RUN_TYPE,
    memo: { name: workflow.name, trigger },
  })(run, left);
}

/** By its type, `RUN_TYPE`. */
export { runWorkflow as 'wf.run.1' };

/** A run of another core waits for a worker that has its code: the message is in its history. */
async function unknownRun(run?: Partial<EngineRun>): Promise<never> {
  const { workflowType } = workflowInfo();
  const own = [CORE, ...EARLIER_CORES].map((core) => `"${runType(core)}"`).join(' and ');
  const release =
    run?.release === undefined ? 'the release of wf that started it' : `wf ${run.release}, which started it`;
  throw new Error(`this worker executes ${own}, not "${workflowType}": the run needs a worker of ${release}`);
}

/** By every other type. */
// biome-ignore lint/style/noDefaultExport: the name that the library asks for
export { unknownRun as default };
