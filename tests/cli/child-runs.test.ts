import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

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

const id = /[0-9a-f]{8}-[0-9a-f]{4}(-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})?/g;

describe('a run whose step runs another workflow', () => {
  it('shows the steps of that one, and of those below it, as they go', () =>
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

  it('has in its recap what failed there, with the last lines, the place and the command of that run', () =>
    withParts(async ({ wf }) => {
      const { stdout } = await wf('run', 'parent.yaml', '--run-id', 'p1');
      const recap = stdout
        .slice(stdout.indexOf('\nFAILED'))
        .replace(id, 'ID')
        .replace(/ in [0-9.]+s/, ' in TIME');
      const ended = 'run ID of workflow "child" ended failed: step "pack": run ID of workflow "leaf" ended failed';
      expect(recap).toBe(`
FAILED parent in TIME   1 failed
✖ build   ${ended}: step "press": exit 5   parent.yaml:2:5
  ✖ pack   run ID of workflow "leaf" ended failed: step "press": exit 5   parts/child.yaml:3:5
    ✖ press   exit 5   parts/leaf.yaml:1:9
      │ jammed
      logs: wf logs ID press

retry what failed: wf retry p1
`);
      const [command = ''] = /wf logs \S+ press/.exec(stdout) ?? [];
      expect((await wf(...command.split(' ').slice(1))).stdout).toBe('jammed\n');
    }));

  it('keeps to its own events in NDJSON', () =>
    withParts(async ({ wf }) => {
      const { stdout } = await wf('run', 'parent.yaml', '--run-id', 'p1', '--reporter', 'json');
      const runs = stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).runId);
      expect(new Set(runs)).toEqual(new Set(['p1']));
    }));
});
