import { describe, expect, it } from 'vitest';
import { withPlace } from '../support/past-runs.ts';

const files = {
  'w.yaml': `params: {A: fixed}
runConfig: {disableParamEdit: true, disableRunIdEdit: true}
steps: [{name: a, command: echo "got $A"}]`,
  'parent.yaml': 'steps: [{name: child, run: w, params: "A=other"}]',
};

describe('runConfig', () => {
  it('refuses given parameters and ids before anything starts', () =>
    withPlace(files, async ({ wf }) => {
      const params = await wf('run', 'w.yaml', '-p', 'A=other');
      expect([params.code, params.stdout, params.stderr]).toEqual([
        2,
        '',
        'error: workflow "w" takes no parameters: "runConfig" disables them\n',
      ]);
      const id = await wf('run', 'w.yaml', '--run-id', 'mine');
      expect([id.code, id.stderr]).toEqual([
        2,
        'error: a run of workflow "w" gets its own id: "runConfig" disables others\n',
      ]);
      expect((await wf('history')).stdout).not.toContain('mine');
      expect((await wf('run', 'w.yaml')).stdout).toContain('got fixed');
    }));

  it('refuses the parameters of a step that runs the workflow', () =>
    withPlace(files, async ({ wf }) => {
      const { code, stdout } = await wf('run', 'parent.yaml');
      expect([code, stdout.includes('workflow "w" takes no parameters')]).toEqual([1, true]);
    }));
});

describe('--ask', () => {
  it('needs a terminal', () =>
    withPlace(files, async ({ wf }) => {
      const { code, stderr } = await wf('run', 'w.yaml', '--ask');
      expect([code, stderr]).toEqual([
        2,
        'error: --ask needs a terminal\n  help: give parameters with -p NAME=value\n',
      ]);
    }));
});
