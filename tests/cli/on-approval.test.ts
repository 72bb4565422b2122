import { expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { wf } from '../support/wf.ts';

const files = {
  'gate.yaml': `steps:
  - {name: go, approval: {input: [{name: N, type: integer, default: 3}]}}
  - {name: ship, depends: go, command: 'echo "ship $N"'}
`,
  'asks.yaml': 'steps:\n  - {name: go, approval: {input: WHY, required: WHY}}\n',
};

function inCi({ cwd, env }: Place, ...args: readonly string[]) {
  return wf(args, { cwd, env: { ...env, CI: 'true' } });
}

const ends = ({ steps }: RunSummary) => steps.map(({ status, error }) => [status, error]);

const rejected = [
  ['failed', 'rejected: the run is not interactive'],
  ['upstream_failed', expect.any(String)],
];

it('rejects at once in CI, in retries and restarts too', async () => {
  await withPlace(files, async (place) => {
    expect((await inCi(place, 'run', 'gate.yaml', '--run-id', 'r1')).code).toBe(1);
    expect((await inCi(place, 'retry', 'r1', '--run-id', 'r2')).code).toBe(1);
    expect((await inCi(place, 'restart', 'r1', '--run-id', 'r3')).code).toBe(1);
    for (const id of ['r1', 'r2', 'r3']) expect(ends(await place.json('status', id))).toEqual(rejected);
  });
});

it('rejects at once without history, where no command finds the run', async () => {
  await withPlace(files, async (place) => {
    const run = await place.wf('run', 'gate.yaml', '--no-history', '--reporter', 'plain');
    expect([run.code, run.stdout]).toEqual([1, expect.stringContaining('rejected: the run is not interactive')]);
  });
});

it('follows --on-approval', async () => {
  await withPlace(files, async (place) => {
    const run = await inCi(place, 'run', 'gate.yaml', '--run-id', 'r1', '--on-approval', 'approve');
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('ship 3')]);
    const { steps } = await place.json('status', 'r1');
    expect(steps[0]?.approval).toMatchObject({ answer: 'approved', by: null, comment: 'by --on-approval' });
    expect((await place.wf('run', 'gate.yaml', '--run-id', 'r2', '--on-approval', 'reject')).code).toBe(1);
    expect((await place.wf('retry', 'r2', '--run-id', 'r3', '--on-approval', 'approve')).code).toBe(0);
    expect((await place.wf('restart', 'r2', '--run-id', 'r4', '--on-approval', 'reject')).code).toBe(1);
    const faulty = await place.wf('run', 'gate.yaml', '--on-approval', 'ask');
    expect([faulty.code, faulty.stderr]).toEqual([2, expect.stringContaining('wait, reject, approve')]);
  });
});

it.each(['plain', 'github'])(
  'names the required inputs in the command that the reporter %s suggests',
  async (reporter) => {
    await withPlace(files, async (place) => {
      const run = await place.wf('run', 'asks.yaml', '--reporter', reporter, '--on-approval', 'reject');
      expect(run.stdout).toMatch(/WAIT +\(wf approve -p WHY=\.\.\. \S+ go\)/);
    });
  },
);

it('does not approve without a required input', async () => {
  await withPlace(files, async (place) => {
    expect((await place.wf('run', 'asks.yaml', '--run-id', 'r1', '--on-approval', 'approve')).code).toBe(1);
    expect(ends(await place.json('status', 'r1'))).toEqual([['failed', 'rejected: the input "WHY" is required']]);
  });
});

it('waits in CI on request, and in the background', async () => {
  await withPlace(files, async (place) => {
    expect((await inCi(place, 'run', 'gate.yaml', '--run-id', 'r1', '--detach')).code).toBe(0);
    const waiting = inCi(place, 'run', 'gate.yaml', '--run-id', 'r2', '--on-approval', 'wait');
    for (const id of ['r1', 'r2']) {
      await expect
        .poll(async () => (await place.wf('status', id)).stdout, { timeout: 10_000 })
        .toContain('waits for approval');
      expect((await place.wf('approve', id)).code).toBe(0);
    }
    expect((await waiting).code).toBe(0);
    expect((await place.wf('logs', '-f', 'r1')).code).toBe(0);
  });
});

it('applies only to runs of this machine', async () => {
  await withPlace(files, async (place) => {
    const run = await place.wf('run', 'gate', '--on-approval', 'approve', '--server', 'http://127.0.0.1:1');
    expect([run.code, run.stderr]).toEqual([2, expect.stringContaining('--on-approval works only for local runs')]);
  });
});
