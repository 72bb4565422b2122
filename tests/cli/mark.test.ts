import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { journalOf } from '../support/background-runs.ts';
import { withPlace } from '../support/past-runs.ts';

const etl = `steps:
  - name: extract
    command: echo 3 rows
    output: ROWS
  - name: load
    command: sh -c 'echo load >> marks; test -e fixed'
    depends: extract
  - name: report
    command: sh -c 'echo "report $ROWS" >> marks'
    depends: load
`;

function statuses({ status, steps }: RunSummary): readonly string[] {
  return [status, ...steps.map((step) => step.status)];
}

describe('wf mark', () => {
  it('sets the status of a step, which a retry uses', async () => {
    await withPlace({ 'etl.yaml': etl }, async (place) => {
      await place.wf('run', 'etl.yaml', '--run-id', 'r1');
      const { code, stdout } = await place.wf('mark', 'r1', 'load', 'succeeded');
      expect([code, stdout]).toEqual([0, 'step "load" counts as succeeded; run r1 of "etl" is failed\n']);
      expect(statuses(await place.json('status', 'r1'))).toEqual([
        'failed',
        'succeeded',
        'succeeded',
        'upstream_failed',
      ]);
      expect((await place.json('status', 'r1')).error).toBe('1 step was not run');
      expect(journalOf(place, 'r1').at(-1)).toMatchObject({
        type: 'step.marked',
        by: expect.stringMatching(/ \(wf mark\)$/),
      });
      await place.wf('retry', 'r1', '--run-id', 'r2');
      expect(statuses(await place.json('status', 'r2'))).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
      expect((await place.wf('exec', '--no-history', 'cat', 'marks')).stdout).toMatch(/\| load\n.*\| report 3 rows\n/);
    });
  });

  it('changes the status of the run with that of its steps', async () => {
    await withPlace({ 'etl.yaml': etl }, async (place) => {
      await place.wf('run', 'etl.yaml', '--run-id', 'r1');
      for (const step of ['load', 'report']) await place.wf('mark', 'r1', step, 'succeeded');
      expect((await place.json('status', 'r1')).status).toBe('succeeded');
      const marked = await place.json('mark', 'r1', 'extract', 'failed');
      expect(statuses(marked)).toEqual(['failed', 'failed', 'succeeded', 'succeeded']);
      place.write('fixed', '');
      await place.wf('retry', 'r1', '--run-id', 'r2');
      expect(statuses(await place.json('status', 'r2'))).toEqual(['succeeded', 'succeeded', 'succeeded', 'succeeded']);
    });
  });

  it('rejects a running run, an unknown step, and an invalid status', async () => {
    const slow = "steps:\n  - name: slow\n    command: sh -c 'echo ready; sleep 60'\n";
    await withPlace({ 'etl.yaml': etl, 'slow.yaml': slow }, async (place) => {
      const run = place.start('run', 'slow.yaml', '--run-id', 'r1', '--reporter', 'plain');
      await run.until('| ready');
      const going = await place.wf('mark', 'r1', 'slow', 'failed');
      expect([going.code, going.stderr.split('\n')[0]]).toEqual([2, 'error: run r1 is still running']);
      run.kill('SIGTERM');
      await run.ended;
      await place.wf('run', 'etl.yaml', '--run-id', 'r2');
      expect(await place.wf('mark', 'r2', 'lod', 'failed')).toMatchObject({
        code: 2,
        stderr: 'error: the workflow has no step "lod"\n  help: did you mean "load"?\n',
      });
      expect((await place.wf('mark', 'r2', 'load', 'fine')).code).toBe(2);
      const before = journalOf(place, 'r2').length;
      await place.wf('mark', 'r2', 'load', 'failed');
      expect(journalOf(place, 'r2').length).toBe(before);
    });
  });
});
