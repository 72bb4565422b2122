import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { eventually, journalOf, untilGone, untilOver } from '../support/background-runs.ts';
import { act, daemonUrl } from '../support/daemon.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { startWf, wf } from '../support/wf.ts';

const preload = resolve(import.meta.dirname, '../../fixtures/programs/dying-carrier.cjs');
const workflow = `steps:
  - name: note
    command: sh -c 'echo "$WF_RUN_ID" >> started'
`;

/** The deaths of consecutive carriers of a place. */
function mortal(place: Place, deaths: readonly string[]) {
  place.write('deaths', deaths.join('\n'));
  const env = { ...place.env, NODE_OPTIONS: `--require ${preload}`, DEATHS: join(place.cwd, 'deaths') };
  return { cwd: place.cwd, env };
}

/** A run that a daemon accepts and whose carriers die. */
async function withRun(
  deaths: readonly string[],
  use: (place: Place, runId: string, log: () => string) => Promise<void>,
): Promise<void> {
  await withPlace({ 'w.yaml': workflow }, async (place) => {
    const daemon = startWf(['serve', '--port', '0', '--dags', place.cwd], mortal(place, deaths));
    onTestFinished(() => daemon.kill('SIGKILL'));
    const runId = `run-${randomUUID()}`;
    const answer = await act(await daemonUrl(daemon), 'w', { action: 'start', 'request-id': runId });
    expect(answer.status).toBe(200);
    await use(place, runId, daemon.printed);
    daemon.kill('SIGTERM');
    expect((await daemon.ended).code).toBe(0);
  });
}

const typesOf = (place: Place, runId: string) => journalOf(place, runId).map(({ type }) => type);
const startedIn = ({ cwd }: Place) => readFileSync(join(cwd, 'started'), 'utf8');
const untilFinished = (place: Place, runId: string) => eventually(() => typesOf(place, runId).includes('run.finished'));

describe('a daemon whose carrier is killed', () => {
  test('before it owned the run starts another one, and the run succeeds', () =>
    withRun(['start', 'start', 'start'], async (place, runId) => {
      await untilFinished(place, runId);
      await untilOver(place, runId, 'succeeded');
      expect(startedIn(place)).toBe(`${runId}\n`);
      expect(typesOf(place, runId).filter((type) => type === 'run.owned')).toHaveLength(1);
    }));

  test('before it owned the run a fourth time fails the run', () =>
    withRun(['start', 'start', 'start', 'start'], async (place, runId) => {
      await untilFinished(place, runId);
      const { status, reason, error, startedAt } = await place.json<RunSummary>('status', runId);
      expect([status, reason, startedAt]).toEqual(['failed', 'error', null]);
      expect(error).toContain('ended before the run began: killed by SIGKILL');
    }));

  test.each(['run.owned', 'run.prepared'])(
    'after %s returns the run to the queue, and each step starts once',
    (moment) =>
      withRun([moment, 'start', moment, moment], async (place, runId, log) => {
        await untilFinished(place, runId);
        await untilOver(place, runId, 'succeeded');
        expect(startedIn(place)).toBe(`${runId}\n`);
        const changes = typesOf(place, runId).filter((type) => type === 'run.owned' || type === 'run.queued');
        expect(changes).toEqual(Array.from({ length: 4 }, () => ['run.queued', 'run.owned']).flat());
        expect(log()).toContain('its process died before the first step, so it starts again');
      }),
  );

  test('after run.owned a fourth time loses the run', () =>
    withRun(['run.owned', 'run.owned', 'run.owned', 'run.owned'], async (place, runId) => {
      await untilFinished(place, runId);
      const { status, reason } = await place.json<RunSummary>('status', runId);
      expect([status, reason]).toEqual(['failed', 'lost']);
    }));

  test('after a step was scheduled loses the run, and no step starts again', () =>
    withRun(['step.started'], async (place, runId) => {
      await untilFinished(place, runId);
      const { status, reason } = await place.json<RunSummary>('status', runId);
      expect([status, reason]).toEqual(['failed', 'lost']);
      expect(typesOf(place, runId).filter((type) => type === 'run.owned')).toHaveLength(1);
    }));
});

describe('wf run --detach whose carrier is killed', () => {
  test('before it owned the run starts another one', () =>
    withPlace({ 'w.yaml': workflow }, async (place) => {
      const options = mortal(place, ['start', 'start', 'start']);
      const { code, stdout } = await wf(['run', 'w.yaml', '--detach'], options);
      expect(code).toBe(0);
      const { owner } = await untilOver(place, stdout.trimEnd(), 'succeeded');
      await untilGone(owner?.pid ?? 0);
      expect(startedIn(place)).toBe(stdout);
    }));

  test('after run.owned, before it reported that, prints the id of a lost run', () =>
    withPlace({ 'w.yaml': workflow }, async (place) => {
      const options = mortal(place, ['run.owned']);
      expect(await wf(['run', 'w.yaml', '--detach', '--run-id', 'r1'], options)).toMatchObject({
        code: 0,
        stdout: 'r1\n',
        stderr: '',
      });
      const { status, reason } = await place.json<RunSummary>('status', 'r1');
      expect([status, reason, existsSync(join(place.cwd, 'started'))]).toEqual(['failed', 'lost', false]);
    }));
});
