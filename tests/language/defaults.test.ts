import { expect, test } from 'vitest';
import { workflowOf } from './load-text.ts';

const defaults = `
  retryPolicy: {limit: 2, intervalSec: 1m}
  continueOn: {exitCode: 3}
  repeatPolicy: {repeat: true, intervalSec: 0.5}
  timeoutSec: 2d12h
  mailOnError: true
  signalOnStop: INT
  env: {A: base, B: base}
  preconditions: [test -e x]`;

test('a step gets the defaults for keys that it does not set', () => {
  const workflow = workflowOf(`defaults:${defaults}\nsteps: [{name: one, command: "true"}]`);
  expect(workflow.steps[0]).toMatchObject({
    retry: { limit: 2, intervalMs: 60_000 },
    continueOn: { exitCodes: [3] },
    repeat: { intervalMs: 500 },
    timeoutMs: 216_000_000,
    mailOn: { failure: true },
    signalOnStop: 'SIGINT',
    env: [
      { name: 'A', value: 'base' },
      { name: 'B', value: 'base' },
    ],
    preconditions: [{ condition: 'test -e x', expected: null }],
  });
});

test('its own keys replace the defaults as a whole; env and preconditions are appended', () => {
  const own = `{name: one, command: "true", retryPolicy: {limit: 1}, timeoutSec: 90s, mailOn: {failure: false},
    env: ["A=$B"], preconditions: [test -e y]}`;
  const workflow = workflowOf(`defaults:${defaults}\nsteps: [${own}]\nhandlerOn: {exit: {command: "true"}}`);
  expect(workflow.steps[0]).toMatchObject({
    retry: { limit: 1, intervalMs: 0 },
    timeoutMs: 90_000,
    mailOn: { failure: false },
    env: [
      { name: 'A', value: 'base' },
      { name: 'B', value: 'base' },
      { name: 'A', value: '$B' },
    ],
    preconditions: [{ condition: 'test -e x' }, { condition: 'test -e y' }],
  });
  expect(workflow.handlers.exit).toMatchObject({ retry: { limit: 0 }, timeoutMs: 0, env: [] });
});

test('durations are also in seconds in services, approvals and notifications', () => {
  const { steps, notify } = workflowOf(`notify: {to: webhook, url: "http://x", timeoutSec: 20s}
steps:
  - {name: db, command: x, service: {readyWhen: {port: 1}, intervalSec: 2s, timeoutSec: 5m}}
  - {name: go, approval: {timeoutSec: 1d12h}}`);
  expect(steps[0]?.service).toMatchObject({ intervalMs: 2000, timeoutMs: 300_000 });
  expect([steps[1]?.approval?.timeoutMs, notify?.[0]?.timeoutMs]).toEqual([129_600_000, 20_000]);
});
