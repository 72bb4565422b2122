import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { withPlace } from '../support/past-runs.ts';

const files = {
  'w.yaml': `steps:
  - {name: a, command: "false", continueOn: {failure: true}}
  - {name: b, command: echo b, depends: a}
handlerOn:
  success: {command: echo good}
  failure: {command: 'echo "bad: $WF_STATUS"'}
`,
  'parent.yaml': 'steps: [{name: child, run: w}]\n',
};

test('strict determines the exit code, the status, the handlers, and the report of a run', () =>
  withPlace(files, async ({ cwd, wf, json }) => {
    const lenient = await wf('run', 'w.yaml');
    expect((await wf('status', 'w')).stdout).toMatch(/^ {2}⚠ a +\S+ {2}exit 1 {2}tolerated$/m);
    await wf('report', 'w', '-o', 'lenient.html');
    const strict = await wf('run', 'w.yaml', '--strict', '--reporter', 'plain', '--reporter', 'junit=out.xml');

    expect([lenient.code, lenient.stdout.match(/good|bad: \w+/g)]).toEqual([0, ['good', 'good']]);
    expect([strict.code, strict.stdout.match(/\| (good|bad: \w+)/g)]).toEqual([1, ['| bad: failed']]);
    expect(lenient.stdout).toMatch(/FAIL {3}exit 1 after .*, tolerated\n/);
    expect(lenient.stdout).toMatch(/⚠ a {3}exit 1 {3}tolerated by continueOn\.failure/);
    expect((await wf('status', 'w')).stdout + strict.stdout).not.toContain('tolerated');
    expect((await wf('status', 'w')).stdout).toMatch(/^ {2}✖ a +\S+ {2}exit 1$/m);
    await wf('report', 'w', '-o', 'strict.html');
    const stepClasses = (file: string) => readFileSync(join(cwd, file), 'utf8').match(/(?<=class="step )\w+/g);
    expect(stepClasses('lenient.html')?.slice(0, 2)).toEqual(['tolerated', 'succeeded']);
    expect(stepClasses('strict.html')?.slice(0, 2)).toEqual(['failed', 'succeeded']);
    expect(readFileSync(join(cwd, 'out.xml'), 'utf8')).toContain('<failure message="exit 1" type="exit">');
    expect(await json<RunSummary>('status', 'w')).toMatchObject({ status: 'failed', reason: 'step', strict: true });
  }));

test('applies to retries, sub-workflows and runs in the background', () =>
  withPlace(files, async ({ wf, json }) => {
    await wf('run', 'w.yaml', '--strict', '--run-id', 'first');
    const retried = await wf('retry', 'first');
    const parent = await wf('run', 'parent.yaml', '--strict');
    await wf('run', 'w.yaml', '--strict', '--detach', '--run-id', 'detached');
    await wf('logs', 'detached', '-f');

    expect([retried.code, parent.code]).toEqual([1, 1]);
    expect(await json<RunSummary>('status', 'detached')).toMatchObject({ status: 'failed', strict: true });
    expect((await wf('run', 'parent.yaml')).code).toBe(0);
  }));
