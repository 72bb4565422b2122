import { expect, it } from 'vitest';
import { CORE } from '#engine/temporal/protocol.ts';
import {
  identityText,
  readIdentity,
  refuseForeign,
  servedLabels,
  servesLabels,
  servingWorkers,
  type WorkerIdentity,
} from '#engine/temporal/workers.ts';

const worker = { name: 'gpu (rack 3)', version: '0.1.0', core: CORE, key: null };
const keyed = { ...worker, name: 'two', key: '1a2b3c4d' };

const labelled = { ...worker, offer: { slots: 4, labels: { gpu: 'true', os: 'linux' }, serves: [] } };
const others = { ...keyed, offer: { slots: 1, labels: {}, serves: [{ arch: 'arm64', os: 'linux' }, { zone: 'a/b' }] } };
const later = { ...worker, core: CORE + 1, earlierCores: [CORE], version: '9.0.0', logs: 'https://ops.example/x, y' };
const both = { ...keyed, offer: { ...labelled.offer, serves: [{ zone: 'eu' }] } };

it.each([worker, keyed, labelled, others, both, later, { ...both, logs: 'file:/shared/logs' }])(
  'an identity is read as it was written',
  (identity) => {
    expect(readIdentity(identityText(identity))).toEqual(identity);
  },
);

it.each(['12@host', 'one', '', '(wf 1, core 1)'])('"%s" is no worker of wf', (text) => {
  expect(readIdentity(text)).toBeNull();
});

it.each([
  ['no worker', [], null],
  ['a worker of the same key', [worker], null],
  ['another one beside it', [keyed, worker], null],
  ['a later worker that has its core', [later], null],
  ['the key of both', [keyed], '1a2b3c4d'],
])('a run starts with %s', (_, workers, key) => {
  expect(() => refuseForeign(workers, key)).not.toThrow();
});

it.each([
  ['only workers with a key', [keyed], null, 'use a key (engineKeyFile), and this command has none: "two" (wf 0.1.0)'],
  [
    'only workers without its key',
    [worker],
    'ffffffff',
    'do not have the key of this command: "gpu (rack 3)" (wf 0.1.0)',
  ],
  ['only workers with another key', [keyed], 'ffffffff', 'do not have the key of this command: "two" (wf 0.1.0)'],
  [
    'only workers of another version',
    [{ ...worker, core: CORE + 1, version: '9.0.0' }, keyed],
    null,
    'executes runs of this version of wf: "gpu (rack 3)" (wf 9.0.0)',
  ],
])('a run is refused with %s', (_, workers, key, message) => {
  expect(() => refuseForeign(workers, key)).toThrow(message);
});

it('workers that have gone, and other programs, do not serve a queue', async () => {
  const seen = (identity: string, secondsAgo: number) => ({
    identity,
    lastAccessTime: { seconds: Math.floor(Date.now() / 1000) - secondsAgo },
  });
  const pollers = [seen(identityText(worker), 60), seen(identityText(keyed), 120), seen('12@host', 1)];
  const describeTaskQueue = async () => ({ pollers });
  // Only this call of the service is made.
  const withDeadline = <T>(_: number, call: () => Promise<T>) => call();
  const connection = { workflowService: { describeTaskQueue }, withDeadline } as never;
  const serving = await servingWorkers({ connection, namespace: 'default' });
  expect(serving.map(({ name }) => name)).toEqual(['gpu (rack 3)']);
});

it('a worker serves every combination of its labels, and those that it names', () => {
  expect(servedLabels({ os: 'linux', gpu: 'true' }, [{ b: '2', a: '1' }, { gpu: 'true' }])).toEqual([
    'os=linux',
    'gpu=true',
    'gpu=true,os=linux',
    'a=1,b=2',
  ]);
  expect(servedLabels({}, [])).toEqual([]);
  expect(servedLabels({ a: '1', b: '1', c: '1', d: '1' }, [])).toHaveLength(15);
});

it('a step finds the workers that have all labels that it needs', () => {
  const served = (needed: string) => [worker, labelled, both].map((one) => servesLabels(one as WorkerIdentity, needed));
  expect(served('')).toEqual([true, true, true]);
  expect(served('gpu=true')).toEqual([false, true, true]);
  expect(served('zone=eu')).toEqual([false, false, true]);
  expect(served('gpu=true,zone=eu')).toEqual([false, false, false]);
  expect(served('gpu=false')).toEqual([false, false, false]);
});
