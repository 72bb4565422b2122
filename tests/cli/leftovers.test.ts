import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { identify, isAlive } from '#processes/process-identity.ts';
import { eventually, journalOf } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

/** Leaves a process that does not end when it is asked to. */
const files = {
  'w.yaml': `MaxCleanUpTimeSec: 1
steps:
  - name: a
    script: |
      sh -c 'trap "" TERM; echo $$ > pid; while :; do sleep 0.05; done' &
      while [ ! -s pid ]; do sleep 0.01; done
handlerOn:
  success: { command: touch handled }
`,
};

const run = ['run', 'w.yaml', '--run-id', 'r1', '--reporter', 'quiet'] as const;

/** Whether the run is on record as finished, and then whether the process it left lives. */
function look(place: Place): { readonly isFinished: boolean; readonly isLeft: boolean; readonly isSettled: boolean } {
  const events = existsSync(join(place.runsDir, 'r1/journal.jsonl')) ? journalOf(place, 'r1') : [];
  const isFinished = events.some(({ type }) => type === 'run.finished');
  const path = join(place.cwd, 'pid');
  const process = existsSync(path) ? identify(Number(readFileSync(path, 'utf8'))) : null;
  const isSettled = events.filter(({ type }) => type === 'step.finished').length === 2;
  return { isFinished, isLeft: process !== null && isAlive(process), isSettled };
}

it('a run finishes only after the background processes of its steps', async () => {
  await withPlace(files, async (place) => {
    const going = place.start(...run);
    let wasLeft = false;
    const seen = await eventually(() => {
      const found = look(place);
      wasLeft ||= found.isSettled && found.isLeft && !found.isFinished;
      return found.isFinished && found;
    });
    expect([wasLeft, seen.isLeft, existsSync(join(place.cwd, 'handled'))]).toEqual([true, false, true]);
    expect((await going.ended).code).toBe(0);
  });
});

it('processes left by a run that was killed at its end are ended by the next command that reads it', async () => {
  await withPlace(files, async (place) => {
    const going = place.start(...run);
    await eventually(() => look(place).isSettled);
    going.kill('SIGKILL');
    await going.ended;
    expect(look(place)).toEqual({ isFinished: false, isLeft: true, isSettled: true });
    const { status, reason, steps } = await place.json('status', 'r1');
    expect({ status, reason, steps: steps.map((step) => step.status) }).toEqual({
      status: 'failed',
      reason: 'lost',
      steps: ['succeeded'],
    });
    expect(look(place).isLeft).toBe(false);
  });
});

it('a stop while leftovers are ended changes nothing', async () => {
  await withPlace(files, async (place) => {
    const going = place.start(...run);
    await eventually(() => look(place).isSettled);
    going.kill('SIGTERM');
    await going.ended;
    expect((await place.json('status', 'r1')).status).toBe('succeeded');
  });
});
