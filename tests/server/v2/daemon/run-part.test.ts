import { expect, test } from 'vitest';
import type { StoredEvent } from '#core/run/run.ts';
import { RunPart } from '#server/v2/daemon/run-part.ts';
import type { PastRun } from '#service/history.ts';
import { nextTurn } from '#system/turns.ts';
import { apiWorld } from '../../../support/api-world.ts';
import { createFakeClock } from '../../../support/fake-clock.ts';

test('a mark that is made while the end of the run is being delivered is sent', async () => {
  const { ask, app, runs } = await apiWorld({ 'a.yaml': 'steps: [{name: a, command: "false"}]\n' });
  await ask('POST', '/api/v2/workflows/a/runs', { body: { runId: 'r' } });
  await runs.settled();
  const run = await app.history.read('r');
  const events = run?.stored?.events ?? [];
  const early = { ...run, stored: { ...run?.stored, events: events.slice(0, -1) } } as never;
  let deliver = () => {};
  const follow = async function* (): AsyncGenerator<readonly StoredEvent[]> {
    await new Promise<void>((resolve) => {
      deliver = resolve;
    });
    yield events.slice(-1);
  };
  let wake = () => {};
  const options = { run: early, after: null, onlyChanged: false, signal: new AbortController().signal };
  const part = new RunPart(
    { ...options, wake: () => wake() },
    { feeds: { follow }, history: app.history, clock: createFakeClock() },
  );
  await nextTurn();
  await ask('POST', '/api/v2/runs/r/steps/a/mark', { body: { status: 'succeeded' } });
  part.look();
  const sent = new Promise<string>((resolve) => {
    let text = '';
    wake = () => {
      text += [...part.take()].join('');
      if (text.includes('"succeeded"')) resolve(text);
    };
  });
  deliver();
  expect(await sent).toContain('"name":"a","status":"succeeded"');
  part.close();
});

test('what a run of an engine waits for is sent when it changes, although it is no event', async () => {
  const { ask, app, runs } = await apiWorld({ 'a.yaml': 'steps: [{name: a, command: "false"}]\n' });
  await ask('POST', '/api/v2/workflows/a/runs', { body: { runId: 'r' } });
  await runs.settled();
  const past = await app.history.read('r');
  const state = {
    ...past?.state,
    status: 'running',
    finishedAt: null,
    owner: { engine: 'temporal://host:1', id: 'r' },
  };
  let waits: readonly string[] = [];
  const history = { ...app.history, withWaits: async (run: PastRun): Promise<PastRun> => ({ ...run, waits }) };
  const follow = async function* (): AsyncGenerator<readonly StoredEvent[]> {};
  const clock = createFakeClock();
  let sent: readonly string[] = [];
  const options = { run: { ...past, state } as never, after: null, onlyChanged: false };
  const part = new RunPart(
    { ...options, signal: new AbortController().signal, wake: () => (sent = [...part.take()]) },
    { feeds: { follow }, history, clock },
  );
  const looked = async () => {
    sent = [];
    clock.advance(5000);
    await nextTurn();
    return sent.join('');
  };
  await nextTurn();
  expect(await looked()).toBe('');
  waits = ['step "a" waits'];
  expect(await looked()).toMatch(/^event: warnings\ndata: \{"runId":"r","warnings":\[.*"step \\"a\\" waits"\]\}/);
  expect(await looked()).toBe('');
  waits = [];
  expect(await looked()).not.toContain('waits"');
  part.close();
});
