import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Outcome } from '#core/run/run.ts';
import { stepState } from '#core/run/run-state.ts';
import type { Step } from '#core/workflow.ts';
import type { Capture } from '#engine/attempt/attempt-context.ts';
import type { Flush } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { untilKilled, untilStopped, type Work, withEngine, withJournal } from '../../support/engine-world.ts';
import { handler, step, workflow } from '../../support/workflow.ts';

const full = new WfError('storage', 'no space left on the device');
const chain = workflow({ steps: [step('a'), step('b', { depends: ['a'] })] });

describe('a run in this process', () => {
  it('stores, reports and acts on one event after the other', async () => {
    await withEngine({}, async ({ start, story }) => {
      const state = await start(chain).finished;
      expect(state.status).toBe('succeeded');
      expect(story()).toEqual([
        'run.created',
        'run.owned',
        'run.prepared',
        'run.started',
        'step.scheduled a',
        'step.started a',
        'step.finished a',
        'step.scheduled b',
        'step.started b',
        'step.finished b',
        'run.finished',
      ]);
    });
  });

  it('numbers events without a gap, even if steps end at once', async () => {
    const steps = Array.from({ length: 50 }, (_, i) => step(`s${i}`));
    await withEngine({}, async ({ start, events }) => {
      await start(workflow({ steps })).finished;
      expect(events.map(({ seq }) => seq)).toEqual(events.map((_, i) => i + 1));
    });
  });

  it('flushes a result before it is used, and only then', async () => {
    const waited: string[] = [];
    const wrapStore = withJournal((journal) => ({
      queueFlush: (seq) => {
        waited.push('flush');
        return journal.queueFlush(seq);
      },
    }));
    const note: Work = (attempt) => {
      waited.push(attempt.step.name);
      return { status: 'succeeded', exitCode: 0, outputs: {} };
    };
    const steps = [step('a'), step('b'), step('c', { depends: ['a', 'b'] })];
    await withEngine({ wrapStore, work: { a: note, b: note, c: note } }, async ({ start }) => {
      await start(workflow({ steps })).finished;
    });
    expect(waited.slice(0, 2)).toEqual(['a', 'b']);
    expect(waited.indexOf('flush')).toBeLessThan(waited.indexOf('c'));
  });

  it('flushes the results a step depends on, not later ones', async () => {
    const flushed: number[] = [];
    const wrapStore = withJournal((journal) => ({
      queueFlush: (seq) => {
        flushed.push(seq);
        return journal.queueFlush(seq);
      },
    }));
    const steps = [
      step('first'),
      step('setter', { output: 'VALUE' }),
      step('later'),
      step('last', { depends: ['first'] }),
      step('handled', { depends: ['later'] }),
    ];
    const set: Work = () => ({ status: 'succeeded', exitCode: 0, outputs: { VALUE: 'x' } });
    await withEngine({ wrapStore, work: { setter: set } }, async ({ start, events }) => {
      await start(workflow({ maxActiveSteps: 1, steps })).finished;
      const endOf = (name: string) =>
        events.find((event) => event.type === 'step.finished' && event.step === name)?.seq;
      // The variable set by a step is available to all steps that start later.
      expect(flushed.slice(0, 2)).toEqual([endOf('setter'), endOf('later')]);
    });
  });

  it.each([
    ['a program', {}, true],
    ['a precondition before it', { preconditions: [{ condition: 'a', expected: 'a' }] }, false],
    ['variables before it', { env: [{ name: 'A', value: 'x' }] }, false],
    ['a copy of its output', { stdout: 'copy.txt' }, false],
    ['a script', { command: null, script: 'true' }, true],
  ] satisfies [string, Partial<Step>, boolean][])(
    'leaves the wait for a queued flush to the executor if the step is only a program: %s',
    async (_name, settings, isLeft) => {
      let finish = () => {};
      const done = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const wrapStore = withJournal(() => ({ flush: () => done, queueFlush: () => ({ done, queued: 'journal' }) }));
      const steps = [step('a'), step('b', { depends: ['a'], ...settings })];
      let given: Flush | null | undefined;
      const note: Work = (attempt) => {
        given = attempt.flush;
        return { status: 'succeeded', exitCode: 0, outputs: {} };
      };
      await withEngine({ wrapStore, work: { b: note } }, async ({ start, told }) => {
        const run = start(workflow({ steps }));
        await told('step.scheduled', 'b');
        await new Promise((resolve) => setImmediate(resolve));
        expect(given?.queued).toBe(isLeft ? 'journal' : undefined);
        finish();
        expect((await run.finished).status).toBe('succeeded');
        expect(given === null).toBe(!isLeft);
      });
    },
  );

  it('ends a step at its time limit, and kills it after the grace period', async () => {
    const slow = workflow({ graceMs: 5000, steps: [step('slow', { timeoutMs: 2000 })] });
    await withEngine({ work: { slow: untilKilled } }, async ({ start, told, clock }) => {
      const run = start(slow);
      await told('step.started');
      clock.advance(2000);
      expect(run.state().status).toBe('running');
      clock.advance(5000);
      const { reason, message, exitCode, signal } = stepState(await run.finished, 'slow');
      expect({ reason, message, exitCode, signal }).toEqual({
        reason: 'timeout',
        message: 'timed out after 2s',
        exitCode: 137,
        signal: 'SIGKILL',
      });
    });
  });

  it('stops every running step and starts no other', async () => {
    await withEngine({ work: { a: untilStopped } }, async ({ start, told, story }) => {
      const run = start(chain);
      await told('step.started', 'a');
      run.cancel({ reason: 'stop', message: 'stopped by SIGINT', force: false });
      const state = await run.finished;
      expect([state.status, stepState(state, 'a').status, stepState(state, 'b').status]).toEqual(
        Array(3).fill('canceled'),
      );
      expect(story()).not.toContain('step.scheduled b');
    });
  });

  it('lets a repeating step finish its repetition when it is stopped', async () => {
    let finish = () => {};
    const repetition: Work = (attempt) => {
      attempt.started(null);
      return new Promise((resolve) => {
        finish = () => resolve({ status: 'succeeded', exitCode: 0, outputs: {} });
        attempt.signal.onAbort(() => resolve({ status: 'canceled', message: 'stopped', exitCode: null, signal: null }));
      });
    };
    await withEngine({ work: { again: repetition } }, async ({ start, told }) => {
      const run = start(workflow({ steps: [step('again', { repeat: { intervalMs: 0 } })] }));
      await told('step.started');
      run.cancel({ reason: 'stop', message: '', force: false });
      finish();
      const state = await run.finished;
      expect([state.status, stepState(state, 'again').status]).toEqual(['canceled', 'succeeded']);
    });
  });

  it('starts many steps over several turns of the event loop, and none after a stop', async () => {
    const names = Array.from({ length: 30 }, (_, index) => `s${index}`);
    const work = Object.fromEntries(names.map((name) => [name, untilStopped]));
    await withEngine({ work }, async ({ start, told, story }) => {
      const run = start(
        workflow({ steps: names.map((name) => step(name, { repeat: { intervalMs: 0 }, timeoutMs: 1 })) }),
      );
      await told('step.started', 's0');
      run.cancel({ reason: 'stop', message: '', force: true });
      const state = await run.finished;
      expect(names.map((name) => stepState(state, name).status)).toEqual(names.map(() => 'canceled'));
      expect(story().filter((line) => line.startsWith('step.scheduled'))).toHaveLength(30);
      expect(story().filter((line) => line.startsWith('step.started')).length).toBeLessThan(10);
    });
  });

  it('kills at once on a forced stop, without handlers', async () => {
    const handlers = { cancel: handler('cancel'), exit: handler('exit') };
    await withEngine({ work: { a: untilKilled } }, async ({ start, told, story }) => {
      const run = start(workflow({ steps: [step('a')], handlers }));
      await told('step.started', 'a');
      run.cancel({ reason: 'stop', message: '', force: false });
      run.cancel({ reason: 'stop', message: '', force: true });
      expect((await run.finished).status).toBe('canceled');
      expect(story().filter((line) => line.includes('handlerOn'))).not.toContain('step.scheduled handlerOn.exit');
    });
  });

  it('fails with the time limit of the workflow, whose handlers still run', async () => {
    const limited = workflow({ timeoutMs: 1000, steps: [step('a')], handlers: { failure: handler('failure') } });
    await withEngine({ work: { a: untilStopped } }, async ({ start, told, clock }) => {
      const run = start(limited);
      await told('step.started', 'a');
      clock.advance(1000);
      const state = await run.finished;
      expect([state.status, state.reason, state.message]).toEqual(['failed', 'timeout', 'timed out after 1s']);
      expect(stepState(state, 'handlerOn.failure').status).toBe('succeeded');
      expect(clock.pending()).toBe(0);
    });
  });

  it('retries when the interval has passed', async () => {
    const fails: Work = ({ number }) =>
      number === 1
        ? { status: 'failed', reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {} }
        : { status: 'succeeded', exitCode: 0, outputs: {} };
    await withEngine({ work: { a: fails } }, async ({ start, told, clock }) => {
      const run = start(workflow({ steps: [step('a', { retry: { limit: 1, intervalMs: 500 } })] }));
      await told('step.waiting', 'a');
      clock.advance(499);
      expect(stepState(run.state(), 'a').attempt).toBe(1);
      clock.advance(1);
      expect(stepState(await run.finished, 'a')).toMatchObject({ status: 'succeeded', attempt: 2 });
    });
  });

  it('fails with the reason if the journal cannot be written, and runs no handler', async () => {
    const wrapStore = withJournal((journal) => ({
      append: (events) => {
        if (events.some((event) => event.type === 'step.finished')) throw full;
        return journal.append(events);
      },
    }));
    const handlers = { failure: handler('failure') };
    await withEngine({ wrapStore }, async ({ start }) => {
      const state = await start(workflow({ steps: chain.steps, handlers })).finished;
      expect([state.status, state.reason, state.message]).toEqual(['failed', 'storage', full.message]);
      expect([stepState(state, 'b').status, stepState(state, 'handlerOn.failure').status]).toEqual([
        'canceled',
        'pending',
      ]);
    });
  });

  it.each(['succeeded', 'failed'] as const)(
    'fails for its journal when the end of a run cannot be written: %s',
    async (status) => {
      const wrapStore = withJournal((journal) => ({
        append: (events) => {
          if (events.some((event) => event.type === 'run.finished')) throw full;
          return journal.append(events);
        },
      }));
      const work = {
        a: (): Outcome =>
          status === 'succeeded'
            ? { status, exitCode: 0, outputs: {} }
            : { status, reason: 'exit', message: 'exit 1', exitCode: 1, signal: null, outputs: {} },
      };
      await withEngine({ wrapStore, work }, async ({ start, events }) => {
        const state = await start(workflow({ steps: [step('a')] })).finished;
        expect([state.status, state.reason, state.message]).toEqual(['failed', 'storage', full.message]);
        expect(stepState(state, 'a').status).toBe(status);
        expect(events.at(-1)).toMatchObject({ seq: 0, type: 'run.finished', status: 'failed', reason: 'storage' });
      });
    },
  );

  it.each([
    [
      'of a step',
      {},
      { work: { a: (): Outcome => ({ status: 'succeeded', exitCode: 0, outputs: { BIG: 'x'.repeat(200_000) } }) } },
      ['failed', 'storage', 'succeeded', 'canceled'],
    ],
    [
      'of the run that it retries',
      { restored: [{ step: 'a', status: 'succeeded', outputs: { BIG: 'x'.repeat(200_000) } }] },
      {},
      ['failed', 'error', 'pending', 'pending'],
    ],
  ] as const)('fails if the disk refuses a large output %s', async (_, request, options, expected) => {
    const wrapStore = withJournal(() => ({
      scratch: () => {
        throw full;
      },
    }));
    const steps = [...chain.steps, step('c', { depends: ['b'] })];
    await withEngine({ wrapStore, ...options }, async ({ start, story }) => {
      const state = await start(workflow({ steps }), request).finished;
      const [a, b] = [stepState(state, 'a').status, stepState(state, 'b').status];
      expect([state.status, state.reason, a, b]).toEqual(expected);
      expect(state.message).toBe(full.message);
      expect(stepState(state, 'c').message).toBe(a === 'pending' ? '' : 'the disk refused to store a part of the run');
      expect(story()).not.toContain('step.started b');
    });
  });

  it('reports that its last events may be lost when they cannot be flushed', async () => {
    const wrapStore = withJournal(() => ({ close: () => Promise.reject(full) }));
    await withEngine({ wrapStore }, async ({ start, events }) => {
      expect((await start(workflow({ steps: [step('a')] })).finished).status).toBe('succeeded');
      const message = `the end of this run may be lost: ${full.message}`;
      expect(events.at(-1)).toMatchObject({ seq: 0, type: 'run.warned', step: null, message });
    });
  });

  it('stores the events that a full disk refused for a while', async () => {
    let refusals = 0;
    let stored: string[] = [];
    const wrapStore = withJournal((journal) => ({
      append: (events) => {
        if (events.some((event) => event.type === 'step.finished') && refusals++ === 0) throw full;
        stored = [...stored, ...events.map(({ type }) => type)];
        return journal.append(events);
      },
    }));
    await withEngine({ wrapStore }, async ({ start, events }) => {
      await start(chain).finished;
      expect(stored).toEqual(events.map(({ type }) => type));
    });
  });

  it('copies the output of a step that the machine refuses to continue', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
    const copy = join(directory, 'copy');
    const work: Work = (attempt) => {
      attempt.write('stdout', 'begun');
      throw Object.assign(new Error('ENOSPC'), { code: 'ENOSPC', syscall: 'write' });
    };
    try {
      await withEngine({ work: { a: work } }, async ({ start }) => {
        const state = await start(workflow({ dir: directory, steps: [step('a', { stdout: copy })] })).finished;
        expect(stepState(state, 'a').message).toBe('cannot write: no space left on the device');
        expect(readFileSync(copy, 'utf8')).toBe('begun');
      });
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it('continues without a log that cannot be opened, and warns', async () => {
    const open = () => {
      throw full;
    };
    await withEngine({ wrapStore: withJournal(({ logs }) => ({ logs: { ...logs, open } })) }, async ({ start }) => {
      const state = await start(workflow({ steps: [step('a')] })).finished;
      expect([state.status, state.warnings.map(({ message }) => message)]).toEqual([
        'succeeded',
        ['the output of "a" is not stored: no space left on the device'],
      ]);
    });
  });

  it.each(['output', 'stdout', 'stderr'] as const)(
    'does not run a step without the log that its "%s" needs',
    async (key) => {
      const open = () => {
        throw full;
      };
      await withEngine({ wrapStore: withJournal(({ logs }) => ({ logs: { ...logs, open } })) }, async ({ start }) => {
        const state = await start(workflow({ steps: [step('a', { [key]: 'x' })] })).finished;
        const message = `"${key}" needs the log of the step: no space left on the device`;
        expect(stepState(state, 'a')).toMatchObject({ status: 'failed', message });
      });
    },
  );

  it('starts nothing when its environment cannot be evaluated', async () => {
    const capture = () => Promise.resolve({ ok: false, ended: true, exitCode: 1, stdout: '', message: 'exit 1' });
    await withEngine({ capture }, async ({ start, story }) => {
      const state = await start(workflow({ env: [{ name: 'A', value: '`false`' }], steps: [step('a')] })).finished;
      expect([state.status, state.reason, state.message]).toEqual(['failed', 'error', 'env "A": `false`: exit 1']);
      expect(story()).not.toContain('step.scheduled a');
    });
  });

  it('finishes at once if it is stopped before it has started', async () => {
    const capture = (_: string, { signal }: { signal?: AbortSignal }) =>
      new Promise<Awaited<ReturnType<Capture>>>((resolve) =>
        signal?.addEventListener('abort', () =>
          resolve({ ok: false, ended: false, exitCode: null, stdout: '', message: 'stopped' }),
        ),
      );
    await withEngine({ capture }, async ({ start, story }) => {
      const run = start(workflow({ env: [{ name: 'A', value: '`sleep 60`' }], steps: [step('a')] }));
      run.cancel({ reason: 'stop', message: 'stopped by SIGINT', force: false });
      expect((await run.finished).status).toBe('canceled');
      expect(story()).toEqual(['run.created', 'run.owned', 'run.finished']);
    });
  });

  it('rejects when an executor throws, which is a bug', async () => {
    const bug: Work = () => {
      throw new TypeError('no such thing');
    };
    await withEngine({ work: { a: bug } }, async ({ start }) => {
      await expect(start(workflow({ steps: [step('a')] })).finished).rejects.toThrow('no such thing');
    });
  });
});
