import { describe, expect, it } from 'vitest';
import { expandText } from '#core/words/interpolate.ts';
import type { Notice, Notify } from '#engine/engine.ts';
import { WfError } from '#system/errors.ts';
import { untilStopped, type Work, withEngine, withJournal } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const pair = workflow({ steps: [step('a'), step('b', { depends: ['a'] })], handlers: { exit: handler('exit') } });
const fail: Work = () => ({
  status: 'failed',
  reason: 'exit',
  message: 'exit 1',
  exitCode: 1,
  signal: null,
  outputs: {},
});

/** Sends nothing until its signal, then returns the reason. `telling` resolves with the first notice. */
function hangingNotify() {
  let begin: (notice: Notice) => void = () => {};
  const telling = new Promise<Notice>((resolve) => {
    begin = resolve;
  });
  const notify: Notify = (notice) => {
    if (notice.step !== null) return null;
    begin(notice);
    return new Promise((resolve) => {
      notice.signal.addEventListener('abort', () => resolve([`not sent: ${notice.signal.reason}`]));
    });
  };
  return { telling, notify };
}

describe('notifications', () => {
  it('are sent for each step and handler that settles, then for the run', async () => {
    const notices: (readonly [string | null, string, string])[] = [];
    const notify: Notify = ({ step: about, status, state }) => {
      notices.push([about?.name ?? null, status, state.status]);
      return null;
    };
    await withEngine({ notify, work: { a: fail } }, async ({ start }) => {
      await start(pair).finished;
    });
    expect(notices).toEqual([
      ['a', 'failed', 'handling'],
      ['b', 'upstream_failed', 'handling'],
      ['handlerOn.exit', 'succeeded', 'failed'],
      [null, 'failed', 'failed'],
    ]);
  });

  it('can use the variables of the run, and those of the process if there are none yet', async () => {
    const texts: string[] = [];
    const notify: Notify = ({ step: about, scope }) => {
      if (about === null) texts.push(expandText('$HOST ${A:-none} $OUT', scope));
      return null;
    };
    const setOut: Work = () => ({ status: 'succeeded', exitCode: 0, outputs: { OUT: 'o' } });
    const capture = () => Promise.resolve({ ok: false, ended: true, exitCode: 1, stdout: '', message: 'exit 1' });
    await withEngine({ notify, capture, processEnv: { HOST: 'h' }, work: { a: setOut } }, async ({ start }) => {
      await start(workflow({ env: [{ name: 'A', value: '1' }], steps: [step('a')] })).finished;
      await start(workflow({ env: [{ name: 'A', value: '`x`' }] }), { runId: 'run-2' }).finished;
    });
    expect(texts).toEqual(['h 1 o', 'h none ']);
  });
});

describe('a notification that fails', () => {
  it('is a warning, also after the end of the run, and changes no outcome', async () => {
    const notify: Notify = ({ step: about, status }) => Promise.resolve([`${about?.name ?? 'run'} ${status}`]);
    await withEngine({ notify }, async ({ start, story }) => {
      const state = await start(workflow({ steps: [step('a')] })).finished;
      expect(state.status).toBe('succeeded');
      expect(state.warnings).toEqual([
        { step: 'a', message: 'a succeeded' },
        { step: null, message: 'run succeeded' },
      ]);
      expect(story().slice(-2)).toContain('run.warned');
      expect(story().indexOf('run.finished')).toBeLessThan(story().lastIndexOf('run.warned'));
    });
  });

  it('is stored before the journal is closed', async () => {
    const calls: string[] = [];
    const wrapStore = withJournal((journal) => ({
      append: (events) => {
        for (const { type } of events) if (type === 'run.warned' || type === 'run.finished') calls.push(type);
        return journal.append(events);
      },
      close: () => {
        calls.push('close');
        return journal.close();
      },
    }));
    const notify: Notify = ({ step: about }) => (about === null ? Promise.resolve(['no']) : null);
    await withEngine({ notify, wrapStore }, async ({ start }) => {
      await start(workflow({ steps: [step('a')] })).finished;
    });
    expect(calls).toEqual(['run.finished', 'run.warned', 'close']);
  });

  it('is abandoned after a while', async () => {
    const { telling, notify } = hangingNotify();
    await withEngine({ notify }, async ({ clock, start }) => {
      const run = start(pair);
      await telling;
      clock.advance(29_999);
      await Promise.resolve();
      expect(run.state().warnings).toEqual([]);
      clock.advance(1);
      expect((await run.finished).warnings).toEqual([{ step: null, message: 'not sent: gave up after 30s' }]);
    });
  });

  it.each([false, true])('is abandoned on a stop after the end of the run (force: %s)', async (force) => {
    const { telling, notify } = hangingNotify();
    await withEngine({ notify }, async ({ start }) => {
      const run = start(pair);
      await telling;
      run.cancel({ reason: 'stop', message: 'stopped by SIGINT', force });
      const state = await run.finished;
      expect([state.status, state.warnings]).toEqual([
        'succeeded',
        [{ step: null, message: 'not sent: stopped by SIGINT' }],
      ]);
    });
  });

  it('is still sent when the run itself is stopped', async () => {
    const { telling, notify } = hangingNotify();
    await withEngine({ notify, work: { a: untilStopped } }, async ({ start, told }) => {
      const run = start(pair);
      await told('step.started', 'a');
      run.cancel({ reason: 'stop', message: 'stopped by SIGTERM', force: false });
      const { status, signal } = await telling;
      expect([status, signal.aborted]).toEqual(['canceled', false]);
      run.cancel({ reason: 'stop', message: 'enough', force: false });
      await run.finished;
    });
  });

  it('is not abandoned if the disk refuses in the meantime', async () => {
    const { telling, notify } = hangingNotify();
    const wrapStore = withJournal(() => ({ flush: () => Promise.reject(new WfError('storage', 'full')) }));
    await withEngine({ notify, wrapStore }, async ({ clock, start }) => {
      const run = start(workflow({ steps: [step('a')] }));
      const { signal } = await telling;
      await new Promise((resolve) => setImmediate(resolve));
      expect(signal.aborted).toBe(false);
      clock.advance(30_000);
      await run.finished;
    });
  });
});

it('is a bug if the notifier throws', async () => {
  const notify: Notify = () => Promise.reject(new Error('broken'));
  await withEngine({ notify }, async ({ start }) => {
    await expect(start(pair).finished).rejects.toThrow('broken');
  });
});
