import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withDaemons } from '../support/daemon.ts';
import { withPlace } from '../support/past-runs.ts';
import { startWf } from '../support/wf.ts';

const files = {
  'w.yaml': `params: {A: fixed}
runConfig: {disableParamEdit: true, disableRunIdEdit: true}
steps: [{name: a, command: echo "got $A"}]`,
  'parent.yaml': 'steps: [{name: child, run: w, params: "A=other"}]',
};

describe('runConfig', () => {
  it('refuses given parameters and ids before the run starts', () =>
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

  it('refuses ids that clients send to a daemon, and accepts starts and retries without one', () =>
    withDaemons(files, async ({ cwd, serve }) => {
      const daemon = await serve();
      const post = async (path: string, body: object) => {
        const headers = { 'Content-Type': 'application/json' };
        const answer = await fetch(`${daemon.url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
        return { status: answer.status, body: await answer.text() };
      };
      const start = '/api/v2/workflows/w/runs';
      const refused = await post(start, { runId: 'mine' });
      expect([refused.status, refused.body.includes('gets its own id')]).toEqual([400, true]);
      expect((await daemon.act('w', { action: 'start', 'request-id': 'mine' })).status).toBe(400);
      expect(await daemon.get('/api/v2/runs')).toContain('"runs":[]');

      expect((await post(start, {})).status).toBe(201);
      expect((await daemon.act('w', { action: 'start' })).status).toBe(200);
      const options = { cwd, env: { WF_HOME: join(cwd, 'client'), WF_SERVER: daemon.url } };
      const started = await startWf(['run', 'w', '--run-id', 'mine'], options).ended;
      expect([started.code, started.stderr.includes('gets its own id')]).toEqual([2, true]);
      const ran = await startWf(['run', 'w'], options).ended;
      expect([ran.code, ran.stderr]).toEqual([0, '']);
      const { runId } = JSON.parse(await daemon.get('/api/v2/runs')).runs[0];
      const retried = await startWf(['retry', runId, '--from', 'a'], options).ended;
      expect([retried.code, retried.stdout.includes('got fixed')]).toEqual([0, true]);
      expect(JSON.parse(await daemon.get('/api/v2/runs')).runs.length).toBe(4);
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
