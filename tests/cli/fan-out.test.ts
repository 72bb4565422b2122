import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '../../src/core/summary/summary.ts';
import { withPlace } from '../support/past-runs.ts';

/** The keys and statuses of the items of a run's first step. */
function itemsOf({ steps }: RunSummary): readonly string[] {
  return (steps[0]?.items ?? []).map(({ key, status }) => `${key} ${status}`);
}

describe('a fan-out', () => {
  it('runs again only what did not succeed, also by instance, and shows the logs of each', () =>
    withPlace(
      {
        'w.yaml':
          'steps: [{name: s, parallel: [a, b, "c d"], command: \'sh -c "echo $ITEM; test -f ok.$WF_ITEM_INDEX"\'}]\n',
      },
      async ({ wf, json, cwd }) => {
        writeFileSync(join(cwd, 'ok.0'), '');
        expect((await wf('run', 'w.yaml')).code).toBe(1);
        expect(itemsOf(await json<RunSummary>('status'))).toEqual(['a succeeded', 'b failed', '2 failed']);
        expect((await wf('logs', '@latest', 's')).stdout.split('\n--- ').toSorted()).toEqual([
          '--- s[a] ---\na',
          's[2] ---\nc d\n',
          's[b] ---\nb',
        ]);
        for (const index of [1, 2]) writeFileSync(join(cwd, `ok.${index}`), '');
        expect((await wf('retry', '@latest', '--step', 's[1]')).code).toBe(1);
        expect(itemsOf(await json<RunSummary>('status'))).toEqual(['a succeeded', 'b succeeded', '2 failed']);
        expect((await wf('logs', '@latest', 's')).stdout).toBe('--- s[b] ---\nb\n');
        expect((await wf('mark', '@latest', 's[2]', 'succeeded')).stdout).toContain('is succeeded');
        expect((await wf('retry', '@latest', '--step', 's[x]')).stderr).toContain('has no step "s[x]"');
      },
    ));

  it('that is stopped half done ends its processes, and continues with a retry', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - name: s
    parallel: {items: [a, b, c], maxConcurrent: 2}
    command: sh -c 'test "$ITEM" = a || test -f go || { echo waits; exec sleep 60; }'
`,
      },
      async ({ wf, json, cwd, start }) => {
        const run = start('run', 'w.yaml', '--reporter', 'plain');
        await run.until('[s[a]] OK');
        await run.until('| waits');
        run.kill('SIGINT');
        expect((await run.ended).code).toBe(130);
        const stopped = await json<RunSummary>('status');
        expect(itemsOf(stopped)).toEqual(['a succeeded', 'b canceled', 'c canceled']);
        expect(stopped.steps[0]).toMatchObject({ status: 'canceled', error: '2 of 3 canceled: b, c' });
        writeFileSync(join(cwd, 'go'), '');
        expect((await wf('retry', '@latest')).code).toBe(0);
        expect(itemsOf(await json<RunSummary>('status'))).toEqual(['a succeeded', 'b succeeded', 'c succeeded']);
      },
    ));

  it('limits the time of each instance, and cancels the others after a failure', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - name: s
    parallel: {items: [5, 60], failFast: true}
    timeoutSec: 0.3
    command: sh -c 'trap "" INT; sleep $ITEM'
  - name: fast
    parallel: {items: [bad, good], failFast: true}
    command: sh -c 'test $ITEM = good && exec sleep 60; exit 3'
`,
      },
      async ({ wf, json }) => {
        expect((await wf('run', 'w.yaml')).code).toBe(1);
        const { steps } = await json<RunSummary>('status');
        expect(steps[0]).toMatchObject({ status: 'failed', reason: 'timeout' });
        expect(steps[1]).toMatchObject({ status: 'failed', error: '1 of 2 failed: bad', exitCode: 3 });
        expect(steps[1]?.items?.map(({ status }) => status)).toEqual(['failed', 'canceled']);
      },
    ));

  it('runs other workflows with its items as parameters, and retries only the failed child', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - {name: s, parallel: [{HOST: a}, {HOST: b}], run: child.yaml, output: OUT}
  - {name: end, command: 'echo "\${OUT.outputs[1].DONE}"', depends: s}
`,
        'child.yaml': `params: [HOST: x]
steps:
  - {name: first, command: 'sh -c "echo x >> first.$HOST"'}
  - {name: last, command: 'sh -c "test $HOST = a || cat go; echo done $HOST"', output: DONE, depends: first}
  - {name: check, command: 'sh -c "test $HOST = a || test -f go"', depends: last}
`,
      },
      async ({ wf, json, cwd }) => {
        expect((await wf('run', 'w.yaml')).code).toBe(1);
        expect(itemsOf(await json<RunSummary>('status', 'w'))).toEqual(['0 succeeded', '1 failed']);
        writeFileSync(join(cwd, 'go'), '');
        const { code, stdout } = await wf('retry', 'w', '--reporter', 'plain');
        expect([code, stdout]).toEqual([0, expect.stringContaining('| done b')]);
        expect(existsSync(join(cwd, 'first.b'))).toBe(true);
        const again = await json<RunSummary>('status', 'w');
        expect(again.steps[0]?.items?.map(({ child }) => child === undefined)).toEqual([true, false]);
      },
    ));

  it('of too many items fails before it starts any', () =>
    withPlace(
      { 'w.yaml': 'steps: [{name: s, parallel: "`seq 1001`", command: "echo $ITEM"}]\n' },
      async ({ wf, json }) => {
        expect((await wf('run', 'w.yaml')).code).toBe(1);
        expect((await json<RunSummary>('status')).steps).toMatchObject([
          { status: 'failed', error: '1001 items: a step takes at most 1000', attempts: 1 },
        ]);
      },
    ));
});
