import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { shortId } from '#render/text/value-text.ts';
import { crash, type Place, withPlace } from '../support/past-runs.ts';

const files = {
  'parent.yaml': 'steps:\n  - {name: build, run: parts/child}\n',
  'leaf.yaml': 'steps: [{name: press, command: "sh -c \'echo jammed >&2; exit 5\'"}]',
};

function withParts<T>(use: (place: Place) => Promise<T>): Promise<T> {
  return withPlace(files, (place) => {
    mkdirSync(join(place.cwd, 'parts'));
    place.write(
      'parts/child.yaml',
      'steps:\n  - {name: compile, command: echo compiled}\n  - {name: pack, run: leaf, depends: compile}\n',
    );
    place.write('parts/leaf.yaml', files['leaf.yaml']);
    return use(place);
  });
}

/** A step that is the second of its workflow. */
function press(command: string): string {
  return `  - {name: press, depends: [], command: "sh -c '${command}'"}\n`;
}

const id = /[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?/g;

describe('a run with a sub-workflow', () => {
  it('is the last run, and the last failed one, before its sub-runs', () =>
    withParts(async ({ wf, json }) => {
      await wf('run', 'parent.yaml', '--run-id', 'the-parent');
      for (const word of ['@latest', '@failed']) expect((await json('status', word)).runId).toBe('the-parent');
      expect((await wf('report')).stdout).toMatch(/^parent-the-parent\S*\.html\n$/);
      expect((await wf('logs', 'the-parent')).stderr).toBe('');
    }));

  it('shows the steps of its sub-runs, at any depth, as they run', () =>
    withParts(async ({ wf }) => {
      const { stdout } = await wf('run', 'parent.yaml');
      const lines = stdout.split('\n').map((line) => line.slice(9).replace(/\] +/, '] '));
      const at = (text: string) => lines.findIndex((line) => line.startsWith(text));
      const order = [
        '[build] START',
        '[build > compile] START',
        '[build > compile] | compiled',
        '[build > compile] OK',
        '[build > pack] START',
        '[build > pack > press] START',
        '[build > pack > press] | jammed',
        '[build > pack > press] FAIL   exit 5',
        '[build > pack] FAIL',
        '[build] FAIL',
      ].map(at);
      expect(order.every((place) => place >= 0)).toBe(true);
      expect(order).toEqual(order.toSorted((a, b) => a - b));
    }));

  it('lists failures of a sub-run in its recap, with last lines, position and command', () =>
    withParts(async ({ wf }) => {
      const { stdout } = await wf('run', 'parent.yaml', '--run-id', 'p1');
      const recap = stdout
        .slice(stdout.indexOf('\nFAILED'))
        .replace(id, 'ID')
        .replace(/ in [0-9.]+s/, ' in TIME');
      expect(recap).toBe(`
FAILED parent in TIME   1 failed
✖ build > pack > press   exit 5   parts/leaf.yaml:1:9
  │ jammed
  logs: wf logs ID press

retry what failed: wf retry p1
`);
      const [command = ''] = /wf logs \S+ press/.exec(stdout) ?? [];
      expect((await wf(...command.split(' ').slice(1))).stdout).toBe('jammed\n');
    }));

  it('shows failures of a sub-run in wf status, with the command that prints the log', () =>
    withParts(async ({ wf }) => {
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      const { stdout } = await wf('status', 'p1');
      expect(stdout).toMatch(/\n✖ build > pack > press {3}exit 5 .*\n {2}│ jammed\n {2}logs: wf logs \S+ press\n/);
      const [command = ''] = /wf logs \S+ press/.exec(stdout) ?? [];
      expect((await wf(...command.split(' ').slice(1))).stdout).toBe('jammed\n');
    }));

  it('shows failures of a sub-run in JSON, of a run without history, and names a sub-run that was removed', () =>
    withParts(async ({ wf, json }) => {
      const { stdout } = await wf('run', 'parent.yaml', '--no-history');
      expect(stdout).toMatch(/\n✖ build > pack > press {3}exit 5 .*\n {2}│ jammed\n$/);
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      const { failures = [], steps } = await json('status', 'p1');
      expect(failures).toMatchObject([{ path: ['build', 'pack', 'press'], error: 'exit 5', lines: ['jammed'] }]);
      const runs = join(dirname(failures[0]?.log ?? ''), '../..');
      rmSync(join(runs, steps[0]?.child ?? 'none'), { recursive: true });
      expect((await wf('status', 'p1')).stdout).toMatch(/its run \S+ cannot be read/);
    }));

  it('shows failures of a sub-run in its report, with last lines and the commands for its log and its report', () =>
    withParts(async ({ wf, json }) => {
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      const { stdout } = await wf('report', 'p1', '-o', '-');
      const child = (await json('status', 'p1')).steps[0]?.child ?? '';
      const leaf = (await json('status', child)).steps[1]?.child ?? '';
      const failures = stdout.slice(stdout.indexOf('<section id="failures">'), stdout.indexOf('</section>'));
      expect(failures).toContain('<a href="#s1"><bdi>build > pack > press</bdi></a>');
      expect(failures).toContain(`<code>wf report ${shortId(leaf)}</code>`);
      expect(failures).toMatch(/aria-label="Last lines of press">jammed\n/);
      const [, command = ''] = /<code>(wf logs \S+ press)<\/code>/.exec(failures) ?? [];
      expect((await wf(...command.split(' ').slice(1))).stdout).toBe('jammed\n');
    }));

  it('prints only its own events in NDJSON', () =>
    withParts(async ({ wf }) => {
      const { stdout } = await wf('run', 'parent.yaml', '--run-id', 'p1', '--reporter', 'json');
      const runs = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).runId);
      expect(new Set(runs)).toEqual(new Set(['p1']));
    }));

  it('is retried with its sub-runs, whose succeeded steps are kept at any depth', () =>
    withParts(async ({ wf, write, cwd, json }) => {
      write(
        'parts/leaf.yaml',
        `steps:\n  - {name: fetch, command: echo fetched >> fetched}\n${press('test -e mended')}`,
      );
      expect((await wf('run', 'parent.yaml', '--run-id', 'p1')).code).toBe(1);
      const first = await json('status', 'p1');
      writeFileSync(join(cwd, 'parts/mended'), '');
      const { stdout, code } = await wf('retry', 'p1', '--run-id', 'p2');
      expect([code, stdout]).toEqual([0, expect.not.stringContaining('[build > compile] START')]);
      expect(readFileSync(join(cwd, 'parts/fetched'), 'utf8')).toBe('fetched\n');
      const second = await json('status', 'p2');
      const [before, after] = [first, second].map(({ steps }) => steps[0]?.child ?? '');
      expect(await json('status', after ?? '')).toMatchObject({
        retryOf: before,
        status: 'succeeded',
        workflow: 'child',
      });
      const leaves = await Promise.all(
        [before, after].map(async (run) => (await json('status', run ?? '')).steps[1]?.child),
      );
      expect((await json('status', leaves[1] ?? '')).retryOf).toBe(leaves[0]);
      expect(JSON.parse(/\{"name":"child".*\}/.exec(stdout)?.[0] ?? '')).toMatchObject({ runId: after });
    }));

  it('is retried by the retry of a retry that did not reach its step', () =>
    withParts(async ({ wf, write, json }) => {
      write('parent.yaml', 'steps:\n  - {name: build, run: parts/child}\n  - {name: other, command: "true"}\n');
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      await wf('retry', 'p1', '--step', 'other', '--run-id', 'p2');
      await wf('retry', 'p2', '--run-id', 'p3');
      const [first, third] = await Promise.all(
        ['p1', 'p3'].map(async (run) => (await json('status', run)).steps[0]?.child),
      );
      expect((await json('status', third ?? '')).retryOf).toBe(first);
    }));

  it('is retried after the process of both was killed', () =>
    withParts(async (place) => {
      const { wf, write, cwd, json } = place;
      write(
        'parts/child.yaml',
        `steps:\n  - {name: fetch, command: "true"}\n${press('test -e ready || (echo waits; sleep 60)')}`,
      );
      await crash(place, 'waits', 'parent.yaml', '--run-id', 'p1');
      writeFileSync(join(cwd, 'parts/ready'), '');
      expect((await wf('retry', 'p1', '--run-id', 'p2')).code).toBe(0);
      const [before, after] = [await json('status', 'p1'), await json('status', 'p2')].map(
        ({ steps }) => steps[0]?.child,
      );
      expect(await json('status', after ?? '')).toMatchObject({ retryOf: before, status: 'succeeded' });
    }));

  it.each([
    ['its parameters are not the same', 'retry p1 -p A=2'],
    ['it is no longer in the history', 'retry p1'],
    ['the retry is a new attempt of one retry policy', 'retry p1'],
  ])('starts a new sub-run where %s', (why, command) =>
    withParts(async ({ wf, write, json, runsDir }) => {
      const isPolicy = why.includes('policy');
      const retry = isPolicy ? ', retryPolicy: {limit: 1, intervalSec: 0}' : '';
      write('parent.yaml', `params: A=1\nsteps:\n  - {name: build, run: parts/child, params: "B=$A"${retry}}\n`);
      write('parts/child.yaml', `params: B=0\nsteps:\n  - {name: compile, command: "true"}\n${press('exit 5')}`);
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      const before = (await json('status', 'p1')).steps[0]?.child ?? '';
      if (why.includes('history')) rmSync(join(runsDir, before), { recursive: true });
      await wf(...command.split(' '), '--run-id', 'p2');
      const after = (await json('status', 'p2')).steps[0]?.child ?? '';
      expect(after).not.toBe(before);
      expect((await json('status', after)).retryOf).toBe(null);
    }),
  );

  it('starts a new sub-run in a handler', () =>
    withParts(async ({ wf, write, json }) => {
      write('parent.yaml', 'handlerOn: {failure: {run: parts/child}}\nsteps: [{name: a, command: "false"}]\n');
      await wf('run', 'parent.yaml', '--run-id', 'p1');
      await wf('retry', 'p1', '--run-id', 'p2');
      const { handlers } = await json('status', 'p2');
      expect((await json('status', handlers[0]?.child ?? '')).retryOf).toBe(null);
    }));
});
