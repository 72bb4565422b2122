import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createControl } from '../../../src/app.ts';
import { readConfig } from '../../../src/config/config.ts';
import { WfError } from '../../../src/errors.ts';
import { beginRun, createRunDesk } from '../../../src/service/runs/local-desk.ts';
import { untilOver } from '../../../src/service/runs/stop-run.ts';
import { readWorkflow } from '../../../src/service/workflows/workflows.ts';
import { untilGone } from '../../support/background-runs.ts';
import { withDirectory } from '../../support/wf.ts';

const file = `steps:
  - name: wait
    command: sh -c 'while [ ! -e go ]; do sleep 0.05; done'
  - name: check
    command: test -e fixed
    depends: wait
`;

/** A desk over a home of its own. */
function withDesk<T>(use: (world: Awaited<ReturnType<typeof makeDesk>>) => Promise<T>): Promise<T> {
  return withDirectory((directory) => use(makeDesk(directory)));
}

function makeDesk(cwd: string) {
  const env = { WF_HOME: join(cwd, 'home'), PATH: process.env['PATH'] ?? '' };
  const config = readConfig(env, cwd, {}, { isDaemon: true });
  const control = createControl(config);
  const context = { env, cwd, dags: null, isDaemon: true };
  const accept: Parameters<typeof createRunDesk>[0]['accept'] = (request) =>
    control.accept(request, { lasting: true, context });
  const parts = { places: control.places, read: readWorkflow, accept, stop: control };
  const desk = createRunDesk({ ...parts, begin: (runId) => beginRun(runId, control) });
  writeFileSync(join(cwd, 'w.yaml'), file);
  const end = async (runId: string) => {
    const { state } = await untilOver(runId, control);
    await untilGone(state.owner?.pid ?? 0);
    return [state.status, state.trigger, state.message];
  };
  /** A run that waits for its process. */
  const accepted = async () => {
    const waiting = createRunDesk({ ...parts, begin: async () => {} });
    return (await waiting.start({ workflow: { name: 'w.yaml' }, params: null, runId: null, trigger: 'api' })).runId;
  };
  return { desk, control, accepted, end, write: (name: string) => writeFileSync(join(cwd, name), '') };
}

describe('a desk', () => {
  it('starts runs in processes of their own, once for one id, and retries them', async () => {
    await withDesk(async ({ desk, end, write }) => {
      const order = { workflow: { name: 'w.yaml' }, params: null, runId: 'r1', trigger: 'schedule' } as const;
      expect(await desk.start(order)).toEqual({ runId: 'r1', isNew: true });
      expect(await desk.start(order)).toEqual({ runId: 'r1', isNew: false });
      const retry = {
        runId: 'r1',
        selection: { steps: 'unfinished' },
        params: null,
        useFile: false,
        newRunId: 'r2',
      } as const;
      await expect(desk.retry(retry)).rejects.toMatchObject({ code: 'run-active' });
      write('go');
      expect(await end('r1')).toEqual(['failed', 'schedule', 'step "check" failed: exit 1']);
      write('fixed');
      expect(await desk.retry(retry)).toEqual({ runId: 'r2', isNew: true });
      expect(await end('r2')).toEqual(['succeeded', 'api', '']);
      expect(await desk.retry({ ...retry, runId: 'r2', newRunId: 'r3' })).toBe(null);
    });
  });

  it('stops what it has started, and says when there is nothing to stop', async () => {
    await withDesk(async ({ desk, end }) => {
      await desk.start({ workflow: { name: 'w.yaml' }, params: null, runId: 'r1', trigger: 'api' });
      expect(await desk.stop('r1', 'the API')).toBe('asked');
      expect(await end('r1')).toEqual(['canceled', 'api', 'stopped by the API']);
      expect(await desk.stop('r1', 'the API')).toBe('over');
      await expect(desk.stop('r9', 'the API')).rejects.toMatchObject({ code: 'not-found' });
      await expect(
        desk.start({ workflow: { name: 'none' }, params: null, runId: null, trigger: 'api' }),
      ).rejects.toMatchObject({
        code: 'not-found',
      });
    });
  });

  it.each([
    [Object.assign(new Error('spawn E2BIG'), { code: 'E2BIG', syscall: 'spawn' }), 'spawn E2BIG'],
    [
      Object.assign(new Error('spawn EACCES'), { code: 'EACCES', syscall: 'spawn node' }),
      'cannot spawn node: permission denied',
    ],
    [new WfError('storage', 'no directory'), 'no directory'],
  ])('ends a run whose process cannot be started: %s', async (error, message) => {
    await withDesk(async ({ control, accepted, end }) => {
      const launch = () => {
        throw error;
      };
      const runId = await accepted();
      await expect(beginRun(runId, { ...control, launch })).rejects.toBe(error);
      expect(await end(runId)).toEqual(['failed', 'api', message]);
    });
  });

  it('says that a run still waits whose end cannot be recorded', async () => {
    await withDesk(async ({ control, accepted, desk, end }) => {
      const launch = () => {
        throw new Error('spawn E2BIG');
      };
      const openForRecovery = () => {
        throw new WfError('storage', 'the disk is full');
      };
      const runId = await accepted();
      const archive = { ...control.archive, openForRecovery };
      await expect(beginRun(runId, { ...control, archive, launch })).rejects.toMatchObject({
        code: 'storage',
        message: `run ${runId} could not begin and still waits: spawn E2BIG; its failure cannot be recorded: the disk is full`,
      });
      await desk.stop(runId, 'the test');
      expect(await end(runId)).toEqual(['canceled', 'api', 'stopped by the test']);
    });
  });
});
