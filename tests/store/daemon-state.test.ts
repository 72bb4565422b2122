import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { identify, isAlive } from '#processes/process-identity.ts';
import { createDaemonState } from '#store/files/daemon-state.ts';
import { createMemoryDaemonState } from '../support/memory-daemon-state.ts';
import { temporaryDirectory } from './world.ts';

const address = 'http://127.0.0.1:8080';

describe.each([
  ['files', () => createDaemonState(join(temporaryDirectory(), 'runs'), { identify, isAlive })],
  ['memory', () => createMemoryDaemonState()],
])('the state of a daemon in %s', (_, create) => {
  it('has one daemon at a time', async () => {
    const state = create();
    const claim = await state.claim();
    await expect(state.claim()).rejects.toMatchObject({
      code: 'conflict',
      message: expect.stringMatching(/^a daemon is already running for these runs/),
    });
    expect(claim.loss()).toBeNull();
    claim.release();
    (await state.claim()).release();
  });

  it('lets one process at a time start a workflow', async () => {
    const state = create();
    const release = await state.claimStart('/a.yaml');
    expect(await state.claimStart('/a.yaml')).toBeNull();
    (await state.claimStart('/b.yaml'))?.();
    release?.();
    expect(await state.claimStart('/a.yaml')).not.toBeNull();
  });

  it('gives the token of the running daemon for its address only', async () => {
    const state = create();
    const claim = await state.claim();
    claim.tell(address);
    expect(state.findOwn(address, isAlive)).toBeNull();
    const { token } = state.keepToken();
    expect(state.keepToken().token).toBe(token);
    expect(state.findOwn(address, isAlive)).toEqual({ url: address, token });
    expect(state.findOwn('http://127.0.0.1:8081', isAlive)).toBeNull();
    claim.release();
    expect(state.findOwn(address, isAlive)).toBeNull();
  });

  it('keeps texts, run ids, notes and sessions apart', async () => {
    const { schedule, watched, retries, forwarding, sessions } = create();
    expect([schedule.read(), watched.read(), retries.read()]).toEqual([null, [], []]);
    schedule.write('due');
    await watched.writeInBackground(['r1']);
    retries.write(['r2']);
    expect([schedule.read(), watched.read(), retries.read()]).toEqual(['due', ['r1'], ['r2']]);
    forwarding.write('r1', '1');
    forwarding.write('r1', '2');
    forwarding.write('r2', '3');
    forwarding.remove('r2');
    expect(forwarding.all()).toEqual([{ runId: 'r1', text: '2' }]);
    const session = { id: 'a', kind: 'token', login: 'b', usedAt: 1 };
    sessions.write([session]);
    expect(sessions.read()).toEqual([session]);
    sessions.remove();
    expect(sessions.read()).toEqual([]);
  });

  it('suspends the schedule of a file until a time, also after it is renamed', () => {
    const { suspensions } = create();
    const later = Date.now() + 60_000;
    const stamp = suspensions.stamp();
    suspensions.set('/a.yaml', later);
    suspensions.set('/past.yaml', 1);
    suspensions.move('/a.yaml', '/b.yaml');
    const files = ['/a.yaml', '/b.yaml', '/past.yaml'];
    expect(files.map(suspensions.endOf)).toEqual([null, later, 1]);
    expect(files.map(suspensions.suspendedUntil)).toEqual([null, later, null]);
    expect(suspensions.stamp()).not.toBe(stamp);
    suspensions.set('/b.yaml', null);
    expect(suspensions.endOf('/b.yaml')).toBeNull();
  });

  it('refuses no start on a healthy machine', () => expect(create().refusal()).toBeNull());
});
