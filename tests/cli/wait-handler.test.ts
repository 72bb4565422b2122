import { expect, it } from 'vitest';
import { withPlace } from '../support/past-runs.ts';

const file = (command: string) => `handlerOn:
  wait: {command: '${command}'}
  exit: {command: 'echo "end: $WF_STATUS, \${WF_WAITING_STEPS-none}"'}
steps:
  - {name: go, approval: {prompt: "Ship?"}}
  - {name: ship, depends: go, command: 'echo "ship \${WF_WAITING_STEPS-none}"'}
`;

it('runs the handler "wait" with the names of the waiting steps; its failure is a warning of the run', async () => {
  await withPlace(
    { 'gate.yaml': file('echo "asked: $WF_WAITING_STEPS, ${WF_STATUS-none}"; exit 3') },
    async (place) => {
      const run = place.start('run', 'gate.yaml', '--run-id', 'r1', '--reporter', 'plain');
      await run.until('[handlerOn.wait] WARN   exit 3');
      expect((await place.wf('approve', 'r1')).code).toBe(0);
      const { code, stdout } = await run.ended;
      expect([code, stdout]).toEqual([0, expect.stringContaining('| asked: go, none')]);
      expect(stdout).toMatch(/\| ship none\n[\s\S]*\| end: succeeded, none\n/);
      expect(stdout).toMatch(/SUCCEEDED gate in .+\nwarning: handlerOn.wait: exit 3\ngo approved by .+\n$/);
      const { status, handlers, warnings } = await place.json('status', 'r1');
      expect([status, warnings]).toEqual(['succeeded', ['handlerOn.wait: exit 3']]);
      expect(handlers.map(({ name, status, tolerated }) => [name, status, tolerated])).toEqual([
        ['handlerOn.wait', 'failed', 'failure'],
        ['handlerOn.exit', 'succeeded', undefined],
      ]);
    },
  );
});

it('ends the handler "wait" with a run that is stopped, and runs it again in the retry of a lost run', async () => {
  await withPlace({ 'gate.yaml': file('echo announced; exec sleep 60') }, async (place) => {
    const run = place.start('run', 'gate.yaml', '--run-id', 'r1', '--reporter', 'plain');
    await run.until('| announced');
    run.kill('SIGKILL');
    await run.ended;
    expect((await place.json('status', 'r1')).handlers[0]).toMatchObject({ status: 'failed', reason: 'lost' });
    const again = place.start('retry', 'r1', '--run-id', 'r2', '--reporter', 'plain');
    await again.until('| announced');
    expect((await place.wf('stop', 'r2')).code).toBe(0);
    expect((await again.ended).code).toBe(143);
    const { status, handlers, warnings } = await place.json('status', 'r2');
    expect([status, handlers[0]?.status, warnings]).toEqual(['canceled', 'canceled', []]);
  });
});

it('ends a run only after its handler "wait", whose time does not count for the limit of the run', async () => {
  const slow = `timeoutSec: 1\n${file('sleep 1.3; echo announced')}`.replace(
    '"Ship?"',
    '"Ship?", timeoutSec: 0.1, onTimeout: approve',
  );
  await withPlace({ 'gate.yaml': slow }, async (place) => {
    const run = await place.wf('run', 'gate.yaml', '--reporter', 'plain');
    expect([run.code, run.stdout]).toEqual([0, expect.stringContaining('| announced')]);
  });
});
