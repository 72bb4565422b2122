import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { readProcess } from '#processes/process-identity.ts';
import { withPlace } from '../support/past-runs.ts';

/** The keys and statuses of the items of a run's first step. */
function itemsOf({ steps }: RunSummary): readonly string[] {
  return (steps[0]?.items ?? []).map(({ key, status }) => `${key} ${status}`);
}

/** The lines that the instances wrote to the file. */
function linesOf(cwd: string, name: string): readonly string[] {
  return inOrder(readFileSync(join(cwd, name), 'utf8').trimEnd().split('\n'));
}

/** By words, then by numbers. */
function inOrder(lines: readonly string[]): readonly string[] {
  return lines.toSorted((one, other) => one.localeCompare(other, 'en', { numeric: true }));
}

/** `word 1`, `word 2`, ... */
function numbered(word: string, first: number, last: number): readonly string[] {
  return Array.from({ length: last - first + 1 }, (_, index) => `${word} ${first + index}`);
}

describe('a fan-out', () => {
  it('retries only what did not succeed, also by instance, and shows the logs of each', () =>
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
        // The instances that the retry kept have their logs in the first run.
        const logs = await wf('logs', '@latest', 's');
        expect(logs.stderr).toMatch(/^2 instances of "s" were kept from run \S+, which has this output\n$/m);
        const [own, ...kept] = logs.stdout.split(/(?=^---)/m).toReversed();
        expect([own, ...inOrder(kept)]).toEqual(['--- s[b] ---\nb\n', '--- s[2] ---\nc d\n', '--- s[a] ---\na\n']);
        expect((await wf('logs', '@latest', 's', '--tail', '1')).stdout).toBe('--- s[b] ---\nb\n');
        expect((await wf('logs', '@latest', 's[2]')).stdout).toBe('c d\n');
        expect((await wf('mark', '@latest', 's[2]', 'succeeded')).stdout).toContain('is succeeded');
        expect((await wf('retry', '@latest', '--step', 's[x]')).stderr).toContain('has no step "s[x]"');
      },
    ));

  it('takes the lines of a text, and the paths that match a pattern in the directory of the step', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - {name: list, command: echo my report.csv, output: ONE}
  - {name: lines, depends: list, parallel: {lines: "$ONE"}, command: 'sh -c "echo $ITEM >> lines"'}
  - {name: both, depends: list, parallel: {lines: "a, b\\n\\n c"}, command: 'sh -c "echo $ITEM >> lines"'}
  - {name: files, depends: list, dir: in, parallel: {glob: ["*.csv", "*/*.csv"]}, command: test -f "$ITEM"}
  - {name: nothing, depends: list, parallel: {glob: "none/*"}, command: "false"}
  - {name: empty, depends: list, env: [{E: ""}], parallel: {lines: "$E"}, command: "false"}
`,
        'in/a.csv': '',
        'in/my report.csv': '',
        'in/sub/c.csv': '',
      },
      async ({ wf, json, cwd }) => {
        expect(await wf('run', 'w.yaml', '-q')).toMatchObject({ code: 0 });
        expect(linesOf(cwd, 'lines')).toEqual(['a, b', 'c', 'my report.csv']);
        const { steps } = await json<RunSummary>('status');
        const itemsOfStep = (name: string) => steps.find((step) => step.name === name)?.items?.map(({ item }) => item);
        expect(itemsOfStep('files')).toEqual(['a.csv', 'my report.csv', 'sub/c.csv']);
        expect([itemsOfStep('nothing'), itemsOfStep('empty')]).toEqual([[], []]);
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

  it('whose wf is killed half done leaves nothing, and a retry runs exactly the rest', () =>
    withPlace(
      {
        'w.yaml': `steps:
  - name: s
    parallel: {items: "\`seq 40\`", maxConcurrent: 4}
    script: |
      echo "begin $ITEM" >> ledger
      test "$ITEM" -le 30 || test -f go || { echo $$ >> pids; echo waits; exec sleep 300; }
      echo "end $ITEM" >> ledger
      echo "of $ITEM"
    output: OUT
  - name: after
    depends: s
    command: echo "\${OUT.summary.succeeded} \${OUT.outputs[0].OUT} \${OUT.outputs[39].OUT}"
`,
      },
      async ({ wf, json, cwd, start }) => {
        const run = start('run', 'w.yaml', '--reporter', 'plain');
        await run.until('| waits', 4);
        run.kill('SIGKILL');
        await run.ended;
        const lost = await json<RunSummary>('status');
        expect([lost.status, lost.reason, lost.steps.map(({ status }) => status)]).toEqual([
          'failed',
          'lost',
          ['failed', 'canceled'],
        ]);
        expect(lost.steps[0]).toMatchObject({ reason: 'lost', error: '4 of 40 failed: 30, 31, 32, 33' });
        const ends = itemsOf(lost).map((item) => item.split(' ')[1]);
        expect(ends).toEqual([
          ...Array(30).fill('succeeded'),
          ...Array(4).fill('failed'),
          ...Array(6).fill('canceled'),
        ]);
        expect(linesOf(cwd, 'pids').filter((pid) => readProcess(Number(pid))?.hasMemory)).toEqual([]);
        writeFileSync(join(cwd, 'go'), '');
        expect((await wf('retry', '@latest')).code).toBe(0);
        expect((await wf('logs', '@latest', 'after')).stdout).toBe('40 of 1 of 40\n');
        expect(linesOf(cwd, 'ledger')).toEqual(
          inOrder([...numbered('begin', 1, 40), ...numbered('begin', 31, 34), ...numbered('end', 1, 40)]),
        );
        expect((await wf('retry', '@latest')).stdout).toContain('nothing to do');
      },
    ));

  it('that the time limit of its run ends half done continues with a retry', () =>
    withPlace(
      {
        'w.yaml': `timeoutSec: 2
steps:
  - name: s
    parallel: {items: [a, b, c, d], maxConcurrent: 2}
    script: |
      echo "$ITEM" >> ledger
      test "$ITEM" = a || test -f go || { echo $$ >> pids; exec sleep 300; }
`,
      },
      async ({ wf, json, cwd }) => {
        expect((await wf('run', 'w.yaml')).code).toBe(124);
        const ended = await json<RunSummary>('status');
        expect(itemsOf(ended)).toEqual(['a succeeded', 'b canceled', 'c canceled', 'd canceled']);
        expect(ended).toMatchObject({ status: 'failed', reason: 'timeout' });
        expect(ended.steps[0]?.items?.map(({ attempts }) => attempts)).toEqual([1, 1, 1, 0]);
        expect(linesOf(cwd, 'pids').filter((pid) => readProcess(Number(pid))?.hasMemory)).toEqual([]);
        writeFileSync(join(cwd, 'go'), '');
        expect((await wf('retry', '@latest')).code).toBe(0);
        expect(linesOf(cwd, 'ledger')).toEqual(['a', 'b', 'b', 'c', 'c', 'd']);
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
  - {name: s, parallel: [{HOST: a}, {HOST: b}], run: child.yaml, params: {json: $ITEM}, output: OUT}
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
        expect(itemsOf(await json<RunSummary>('status', 'w'))).toEqual(['a succeeded', 'b failed']);
        writeFileSync(join(cwd, 'go'), '');
        const { code, stdout } = await wf('retry', 'w', '--reporter', 'plain');
        expect([code, stdout]).toEqual([0, expect.stringContaining('| done b')]);
        expect(existsSync(join(cwd, 'first.b'))).toBe(true);
        const again = await json<RunSummary>('status', 'w');
        expect(again.steps[0]?.items?.map(({ child }) => child === undefined)).toEqual([true, false]);
      },
    ));

  it('has in its JUnit file for every failed item the path, the reason and the last lines of its failed child', () =>
    withPlace(
      {
        'w.yaml': 'steps: [{name: s, parallel: [a, b, c, d, e], run: child.yaml}]\n',
        'child.yaml': `params: [HOST: x]
steps:
  - {name: odd, command: "false", continueOn: {failure: true}}
  - {name: push, depends: odd, command: 'sh -c "echo denied $HOST; exit 3"'}
`,
      },
      async ({ wf, cwd }) => {
        expect((await wf('run', 'w.yaml', '-q', '--reporter', 'junit=report.xml')).code).toBe(1);
        const report = readFileSync(join(cwd, 'report.xml'), 'utf8');
        const told = [...report.matchAll(/<failure message="([^"]*)" type="error">([^<]*)</g)];
        const id = / \w{8}-\w{4}/g;
        expect(told.map(([, message, text = '']) => [message, text.replace(id, ' ID')])).toEqual(
          ['a', 'b', 'c', 'd', 'e'].map((key) => [
            'step &quot;push&quot;: exit 3',
            `s[${key}] &gt; push: exit 3\ndenied ${key}\nlog: wf logs ID push\ns[${key}] &gt; odd: exit 1\nlog: wf logs ID odd`,
          ]),
        );
        expect(report).not.toContain('{"name":"child"');
      },
    ));

  it('passes an item only to a workflow that takes one, and a map as one value', () =>
    withPlace(
      {
        'w.yaml': `params: [LIST: '[{"TAG":"evil"}]']
steps:
  - {name: none, parallel: [a, b], run: none.yaml}
  - {name: one, parallel: $LIST, run: one.yaml}
  - {name: position, parallel: [a b], run: position.yaml}
  - {name: matrix, matrix: {TAG: [v1]}, run: one.yaml}
  - {name: mentioned, matrix: {OTHER: [v2]}, run: mentioned.yaml}
`,
        'none.yaml': 'steps: [{name: s, command: echo none}]\n',
        'one.yaml': 'params: [FIRST: x, TAG: good]\nsteps: [{name: s, command: echo $FIRST $TAG}]\n',
        'position.yaml': 'steps: [{name: s, command: echo $1}]\n',
        'mentioned.yaml': 'steps: [{name: s, command: echo $OTHER}]\n',
      },
      async ({ wf }) => {
        const { code, stdout } = await wf('run', 'w.yaml');
        const printed = [...stdout.matchAll(/\[(\S+) > s\] +\| (.*)/g)].map(([, name, line]) => `${name}: ${line}`);
        expect([code, printed.sort()]).toEqual([
          0,
          [
            'matrix[v1]: x v1',
            'mentioned[v2]: v2',
            'none[a]: none',
            'none[b]: none',
            'one[evil]: {"TAG":"evil"} good',
            'position[0]: a b',
          ],
        ]);
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
