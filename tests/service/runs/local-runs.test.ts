import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createControl } from '#app/history-app.ts';
import { readConfig } from '#config/config.ts';
import { beginRun } from '#service/runs/carrier.ts';
import { untilOver } from '#service/runs/end-run.ts';
import { createLocalRuns } from '#service/runs/local-runs.ts';
import { readWorkflow } from '#service/workflows/workflows.ts';
import { WfError } from '#system/errors.ts';
import { untilGone } from '../../support/background-runs.ts';
import { withDirectory } from '../../support/wf.ts';

const file = `steps:
  - name: wait
    command: sh -c 'while [ ! -e go ]; do sleep 0.05; done'
  - name: check
    command: test -e fixed
    depends: wait
`;

/** Runs in a home of its own. */
function withRuns<T>(use: (world: Awaited<ReturnType<typeof makeRuns>>) => Promise<T>): Promise<T> {
  return withDirectory((directory) => use(makeRuns(directory)));
}

function makeRuns(cwd: string) {
  const env = { WF_HOME: join(cwd, 'home'), PATH: process.env['PATH'] ?? '' };
  const config = readConfig(env, cwd, {}, { isDaemon: true });
  const control = createControl(config, { isDaemon: true });
  const { store } = control;
  const runsWith = (begin: (runId: string) => Promise<void>) =>
    createLocalRuns({ ...control, read: readWorkflow, engine: control.engineFor({ store, begin }) });
  const runs = runsWith((runId) => beginRun(runId, control));
  writeFileSync(join(cwd, 'w.yaml'), file);
  const end = async (runId: string) => {
    const { state } = await untilOver(runId, control);
    const { owner } = state;
    await untilGone(owner !== null && 'pid' in owner ? owner.pid : 0);
    return [state.status, state.trigger, state.message];
  };
  /** A run that waits for its process. */
  const accepted = async () => {
    const waiting = runsWith(async () => {});
    return (await waiting.start({ workflow: { name: 'w.yaml' }, params: null, runId: null, trigger: 'api' })).runId;
  };
  return { runs, control, accepted, end, write: (name: string) => writeFileSync(join(cwd, name), '') };
}

describe('local runs', () => {
  it('keep the moment for which they were started in their retries', async () => {
    await withRuns(async ({ runs, control, end, write }) => {
      write('go');
      const moment = { scheduledFor: Date.parse('2026-06-01T02:00:00Z'), previousFor: 1000 };
      await runs.start({ workflow: { name: 'w.yaml' }, params: null, runId: 'r1', trigger: 'schedule', moment });
      expect((await end('r1')).slice(0, 2)).toEqual(['failed', 'schedule']);
      const retry = { selection: { steps: 'unfinished' }, params: null, useFile: false, trigger: 'cli' } as const;
      await runs.retry({ ...retry, runId: 'r1', newRunId: 'r2' });
      await end('r2');
      const { state } = await untilOver('r2', control);
      expect([state.retryOf, state.scheduledFor, state.previousFor]).toEqual(['r1', moment.scheduledFor, 1000]);
    });
  });

  it('starts runs in processes of their own, once for one id, and retries them', async () => {
    await withRuns(async ({ runs, end, write }) => {
      const order = { workflow: { name: 'w.yaml' }, params: null, runId: 'r1', trigger: 'schedule' } as const;
      expect(await runs.start(order)).toEqual({ runId: 'r1', isNew: true });
      expect(await runs.start(order)).toEqual({ runId: 'r1', isNew: false });
      const retry = {
        runId: 'r1',
        selection: { steps: 'unfinished' },
        params: null,
        useFile: false,
        newRunId: 'r2',
        trigger: 'api',
      } as const;
      await expect(runs.retry(retry)).rejects.toMatchObject({ code: 'run-active' });
      write('go');
      expect(await end('r1')).toEqual(['failed', 'schedule', 'step "check" failed: exit 1']);
      write('fixed');
      expect(await runs.retry(retry)).toEqual({ runId: 'r2', isNew: true });
      expect(await end('r2')).toEqual(['succeeded', 'api', '']);
      expect(await runs.retry({ ...retry, runId: 'r2', newRunId: 'r3' })).toBe(null);
    });
  });

  it('stops a started run, and reports when there is none to stop', async () => {
    await withRuns(async ({ runs, end }) => {
      await runs.start({ workflow: { name: 'w.yaml' }, params: null, runId: 'r1', trigger: 'api' });
      expect(await runs.stop('r1', { by: 'the API', kill: 'never' })).toEqual({ result: 'asked', forced: false });
      expect(await end('r1')).toEqual(['canceled', 'api', 'stopped by the API']);
      expect(await runs.stop('r1', { by: 'the API', kill: 'never' })).toEqual({ result: 'over', forced: false });
      await expect(runs.stop('r9', { by: 'the API', kill: 'never' })).rejects.toMatchObject({ code: 'not-found' });
      await expect(
        runs.start({ workflow: { name: 'none' }, params: null, runId: null, trigger: 'api' }),
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
    await withRuns(async ({ control, accepted, end }) => {
      const launch = () => {
        throw error;
      };
      const runId = await accepted();
      await expect(beginRun(runId, { ...control, launch })).rejects.toBe(error);
      expect(await end(runId)).toEqual(['failed', 'api', message]);
    });
  });

  it('reports that a run is still queued if its end cannot be recorded', async () => {
    await withRuns(async ({ control, accepted, runs, end }) => {
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
        message: `run ${runId} could not start and still waits: spawn E2BIG; its failure cannot be recorded: the disk is full`,
      });
      await runs.stop(runId, { by: 'the test', kill: 'never' });
      expect(await end(runId)).toEqual(['canceled', 'api', 'stopped by the test']);
    });
  });
});
