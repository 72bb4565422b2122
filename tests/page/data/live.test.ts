import { afterEach, expect, test, vi } from 'vitest';
import { holdDaemon, openedStreams, requestOf, sendEvent } from './held-daemon.ts';

holdDaemon();
const { followLive } = await import('#page/data/live.ts');
const { isOffline } = await import('#page/data/connection.ts');

const status = { version: '1.0.0', running: 0, queued: 0, awaitingApproval: 0 };

afterEach(() => {
  vi.useRealTimers();
});

test('a stream that is silent for longer than the interval of heartbeats is opened again at its cursor', async () => {
  vi.useFakeTimers();
  const stop = followLive(null, {}, () => {});
  sendEvent('daemon', status, '5f0c.17');
  vi.advanceTimersByTime(39_000);
  expect(openedStreams()).toEqual([{ query: '', isClosed: false }]);
  vi.advanceTimersByTime(1000);
  expect(openedStreams()).toEqual([{ query: '', isClosed: true }]);
  expect(isOffline.value).toBe(true);

  // The connection of the first request has died, too.
  await requestOf('GET /health');
  vi.advanceTimersByTime(2000);
  (await requestOf('GET /health')).answer({});
  await vi.waitFor(() => expect(isOffline.value).toBe(false));
  expect(openedStreams()).toEqual([
    { query: '', isClosed: true },
    { query: '?after=5f0c.17', isClosed: false },
  ]);
  stop();
  vi.advanceTimersByTime(60_000);
  expect(openedStreams().map(({ isClosed }) => isClosed)).toEqual([true, true]);
});

test('a stream with heartbeats stays open, and one that has died during a sleep is opened again at once', async () => {
  vi.useFakeTimers();
  const stop = followLive(null, {}, () => {});
  for (let beat = 0; beat < 20; beat++) {
    sendEvent('daemon', status, '5f0c.17');
    vi.advanceTimersByTime(15_000);
  }
  expect(openedStreams()).toEqual([{ query: '', isClosed: false }]);
  // Timers stand still while the machine sleeps.
  vi.setSystemTime(Date.now() + 3_600_000);
  vi.advanceTimersToNextTimer();
  (await requestOf('GET /health')).answer({});

  await vi.waitFor(() => expect(openedStreams().map(({ isClosed }) => isClosed)).toEqual([true, false]));
  stop();
});
