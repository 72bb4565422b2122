import { expect, it } from 'vitest';
import { runWaits } from '#engine/temporal/client/run-waits.ts';
import { CORE } from '#engine/temporal/protocol.ts';
import { identityText, type WorkerIdentity } from '#engine/temporal/workers.ts';

const plain = { name: 'plain', version: '0.1.0', core: CORE, key: null };
const gpu = { ...plain, name: 'gpu', offer: { slots: 1, labels: { gpu: 'true', os: 'linux' }, serves: [] } };
const [SCHEDULED, STARTED] = [1, 2];

type Work = { readonly state: number; readonly queue: string; readonly id: string };
type Described = {
  readonly work?: readonly Work[];
  readonly decision?: { readonly state: number; readonly attempt: number };
};

/** What a run waits for, with the workers that its engine lists. */
function waits({ work = [], decision }: Described, workers: readonly WorkerIdentity[]): Promise<readonly string[]> {
  const seconds = Math.round(Date.now() / 1000);
  const service = {
    describeWorkflowExecution: async () => ({
      pendingWorkflowTask: decision ?? null,
      pendingActivities: work.map(({ state, queue, id }) => {
        return { state, activityId: id, activityOptions: { taskQueue: { name: queue } } };
      }),
    }),
    describeTaskQueue: async () => ({
      pollers: workers.map((worker) => ({ identity: identityText(worker), lastAccessTime: { seconds } })),
    }),
  };
  const connection = { workflowService: service, withDeadline: (_: number, call: () => unknown) => call() };
  return runWaits({ connection, namespace: 'default' } as never, 'r');
}

const needsGpu = { state: SCHEDULED, queue: 'wf:gpu=true', id: 'train#1' };
const missing = 'no worker serves the queue "wf" of the engine: start one with wf worker';

it.each([
  ['nothing is to be done', {}, [], []],
  ['a decision waits for any worker', { decision: { state: SCHEDULED, attempt: 1 } }, [], [missing]],
  ['a decision is being made', { decision: { state: STARTED, attempt: 1 } }, [], []],
  ['an attempt waits for any worker', { work: [{ ...needsGpu, queue: 'wf' }] }, [], [missing]],
  ['its worker has no slot', { work: [{ ...needsGpu, queue: 'wf' }] }, [plain], []],
  ['its worker with labels has no slot', { work: [needsGpu] }, [plain, gpu], []],
  ['a worker makes the attempt', { work: [{ ...needsGpu, state: STARTED }] }, [], []],
  ['one worker is to clean up', { work: [{ ...needsGpu, queue: 'wf.worker.gone' }] }, [plain], []],
  [
    'its labels are missing',
    { work: [needsGpu] },
    [plain],
    ['step "train" waits for a worker with gpu=true: none is connected'],
  ],
  [
    'the labels of several are missing',
    {
      work: [
        { ...needsGpu, queue: 'wf:gpu=false', id: 'a#2' },
        { ...needsGpu, queue: 'wf:gpu=false', id: 'b#1#end' },
        { ...needsGpu, queue: 'wf:os=linux,zone=eu', id: 'step #1#1' },
      ],
    },
    [gpu],
    [
      '2 steps wait for a worker with gpu=false: none is connected',
      'step "step #1" waits for a worker with os=linux,zone=eu: none is connected',
    ],
  ],
  ['a decision failed twice', { decision: { state: STARTED, attempt: 3 } }, [plain], []],
  [
    'a decision failed three times',
    { decision: { state: STARTED, attempt: 4 } },
    [plain],
    ['workers have failed 3 times to continue the run: what they print says why'],
  ],
])('a run of which %s', async (_, described, workers, expected) => {
  expect(await waits(described, workers)).toEqual(expected);
});
