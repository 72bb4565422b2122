import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { followLogs } from '#service/history/logs/log-view.ts';
import { FileFollower } from '#store/files/logs/log-follower.ts';
import { temporaryDirectory } from '../../store/world.ts';

test('a reader that leaves when a step ends is not given the rest of its log', async () => {
  const path = join(temporaryDirectory(), 'log');
  writeFileSync(path, '');
  truncateSync(path, 64 * 1024 * 1024);
  const logs = {
    follow: (options: never) => new FileFollower({ pathOf: () => path, streams: () => ['output'] }, options),
  };
  const run = { runId: 'r', state: { graph: { index: new Map(), nodes: [] } }, stored: { events: [], logs } };
  let isClosed = false;
  let pushed = 0;
  const reader = {
    push: ({ bytes }: { bytes: Uint8Array }) => {
      pushed += bytes.length;
    },
    end: () => {},
    release: () => {},
    isBehind: () => true,
    isClosed: () => isClosed,
    caughtUp: async () => {},
  };
  const follow = async function* () {
    yield { type: 'step.started', step: 'a', attempt: 1 };
    isClosed = true;
    yield { type: 'step.finished', step: 'a', attempt: 1 };
  };
  const view = { filter: { step: null, attempt: null }, stream: null, reader, follow };
  await followLogs(run as never, view as never);
  expect(pushed).toBeLessThanOrEqual(1024 * 1024);
});
