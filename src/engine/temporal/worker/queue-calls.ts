import { ifGone, packages } from '../connection.ts';
import { DEFAULT_QUEUE, NAMES, QUEUE_TYPE, type QueueCalls } from '../protocol.ts';

/** The activities of `QueueCalls`. */
export const queueCalls: QueueCalls = {
  [NAMES.enterQueue]: async (queue, entry) => {
    const { client } = (await packages.activity()).Context.current();
    await client.workflow.signalWithStart(QUEUE_TYPE, {
      workflowId: queue,
      taskQueue: DEFAULT_QUEUE,
      signal: NAMES.enter,
      signalArgs: [entry],
      workflowTaskTimeout: '10 seconds',
    });
  },
  [NAMES.endedRuns]: async (runIds) => {
    const { client } = (await packages.activity()).Context.current();
    const judged = await Promise.all(
      runIds.map(async (runId) => {
        const status = await client.workflow
          .getHandle(runId)
          .describe()
          .then(({ status }) => status.name, ifGone(null));
        return status === 'RUNNING' || status === 'CONTINUED_AS_NEW' ? [] : [runId];
      }),
    );
    return judged.flat();
  },
};
