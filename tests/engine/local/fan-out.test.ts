import { describe, expect, it } from 'vitest';
import { stepState } from '#core/run/run-state.ts';
import type { FanOut, Step } from '#core/workflow.ts';
import type { Capture } from '#engine/attempt/attempt-context.ts';
import { untilStopped, type Work, withEngine } from '../../support/engine-world.ts';
import { step, workflow } from '../../support/workflow.ts';

function fan(items: FanOut['items'], others: Partial<Step> = {}): Step {
  return step('ship', { fanOut: { items, maxConcurrent: 10, failFast: false }, ...others });
}

/** Every instance does the same. */
function instances(keys: readonly string[], work: Work): Record<string, Work> {
  return Object.fromEntries(keys.map((key) => [`ship[${key}]`, work]));
}

const echo: Work = ({ expand, env }) => ({
  status: 'succeeded',
  exitCode: 0,
  outputs: {
    OUT: `${expand('${ITEM.name:-} $ITEM')} ${env['WF_ITEM_INDEX']}/${env['WF_ITEM_COUNT']} ${env['ITEM_name'] ?? ''}`,
  },
});

/** The outputs of the instances, and how the step ended. */
async function ship(
  made: Step,
  keys: readonly string[],
  options: { env?: Record<string, string>; capture?: Capture } = {},
) {
  const work = instances(keys, echo);
  return withEngine({ work, processEnv: options.env ?? {}, ...options }, async ({ start }) => {
    const state = await start(workflow({ steps: [made] })).finished;
    const { status, message } = stepState(state, 'ship');
    const names = keys.filter((key) => state.graph.index.has(`ship[${key}]`));
    return { status, message, outputs: names.map((key) => stepState(state, `ship[${key}]`).outputs['OUT']) };
  });
}

describe('a fan-out in this process', () => {
  it('reads its items from a variable, and gives each instance its own', async () => {
    expect(await ship(fan('$HOSTS'), ['a', 'b'], { env: { HOSTS: 'a\nb' } })).toEqual({
      status: 'succeeded',
      message: '',
      outputs: [' a 0/2 ', ' b 1/2 '],
    });
  });

  it('expands the items of a list, also those within maps', async () => {
    const items = [{ name: '$X', port: 80 }, '${X}-2'];
    const { outputs } = await ship(fan(items), ['x', 'x-2'], { env: { X: 'x' } });
    expect(outputs).toEqual(['x {"name":"x","port":80} 0/2 x', ' x-2 1/2 ']);
  });

  it('runs the commands of its items once, with its own env', async () => {
    const ran: (string | undefined)[] = [];
    const capture: Capture = (command, { env }) => {
      ran.push(`${command} ${env['DIR']}`);
      return Promise.resolve({ ok: true, ended: true, exitCode: 0, stdout: 'a,b', message: '' });
    };
    const env = [
      { name: 'DIR', value: '/srv' },
      { name: 'OWN', value: '$ITEM!' },
    ];
    const { outputs } = await ship(fan('`list`', { env }), ['a', 'b'], { capture });
    expect(ran).toEqual(['list /srv']);
    expect(outputs).toEqual([' a 0/2 ', ' b 1/2 ']);
  });

  it('fails with items that cannot be evaluated, or cannot be variables', async () => {
    expect(await ship(fan('${CFG.hosts}'), [])).toMatchObject({
      status: 'failed',
      message: '"${CFG.hosts}": CFG is not defined',
    });
    const json = JSON.stringify(['a', 'x'.repeat(200_000)]);
    expect(await ship(fan('$ALL'), [], { env: { ALL: json } })).toMatchObject({
      status: 'failed',
      message: 'item 1 is too large to be a variable, or has a NUL character',
    });
  });

  it('checks a precondition once before its items, and one about the item for each', async () => {
    const preconditions = [
      { condition: '$DAY', expected: 'monday' },
      { condition: '$ITEM', expected: 'b' },
    ];
    const made = fan(['a', 'b'], { preconditions });
    expect(await ship(made, ['a', 'b'], { env: { DAY: 'monday' } })).toMatchObject({
      status: 'succeeded',
      outputs: [undefined, ' b 1/2 '],
    });
    expect(await ship(made, ['a', 'b'], { env: { DAY: 'friday' } })).toEqual({
      status: 'skipped',
      message: '$DAY was "friday", expected "monday"',
      outputs: [],
    });
  });

  it('publishes its own output, not those of its instances', async () => {
    const seen: (string | undefined)[] = [];
    const work = {
      ...instances(['a'], () => ({ status: 'succeeded', exitCode: 0, outputs: { OUT: 'of a' } })),
      after: (({ env }) => {
        seen.push(env['OUT'], env['ITEM']);
        return { status: 'succeeded', exitCode: 0, outputs: {} };
      }) as Work,
    };
    const steps = [fan(['a']), step('after', { depends: ['ship'] })];
    await withEngine({ work }, async ({ start }) => {
      await start(workflow({ steps })).finished;
    });
    expect(seen).toEqual([undefined, undefined]);
  });

  it('asks running instances to end after the first failure, and no other step', async () => {
    const ended: string[] = [];
    const wait: Work = async (attempt) => {
      const outcome = await untilStopped(attempt);
      ended.push(attempt.step.name);
      return outcome;
    };
    const other: Work = ({ signal }) => {
      expect(signal.aborted).toBe(false);
      return { status: 'succeeded', exitCode: 0, outputs: {} };
    };
    const work: Record<string, Work> = {
      'ship[a]': wait,
      'ship[b]': () => ({
        status: 'failed',
        reason: 'exit',
        message: 'exit 1',
        exitCode: 1,
        signal: null,
        outputs: {},
      }),
      other,
    };
    const made = { ...fan(['a', 'b', 'c']), fanOut: { items: ['a', 'b', 'c'], maxConcurrent: 2, failFast: true } };
    await withEngine({ work }, async ({ start }) => {
      const state = await start(workflow({ steps: [made, step('other')] })).finished;
      expect(ended).toEqual(['ship[a]']);
      expect(['a', 'b', 'c'].map((key) => stepState(state, `ship[${key}]`).status)).toEqual([
        'canceled',
        'failed',
        'canceled',
      ]);
      expect(stepState(state, 'ship')).toMatchObject({ status: 'failed', message: '1 of 3 failed: b' });
      expect(stepState(state, 'other').status).toBe('succeeded');
    });
  });

  it('sends one notification for all its instances', async () => {
    const noticed: (string | null)[] = [];
    const notify = ({ step }: { readonly step: Step | null }) => {
      noticed.push(step?.name ?? null);
      return null;
    };
    await withEngine({ notify }, async ({ start }) => {
      await start(workflow({ steps: [fan(['a', 'b'])] })).finished;
    });
    expect(noticed).toEqual(['ship', null]);
  });

  it('gives a child run the item as parameters', async () => {
    const given: unknown[] = [];
    const work = instances(['a', 'x'], async ({ runWorkflow }) => {
      await runWorkflow({ run: 'child.yaml', params: '' });
      return { status: 'succeeded', exitCode: null, outputs: {} };
    });
    const findSubworkflow = ({ params }: { readonly params: string }) => {
      given.push(params);
      return { workflow: workflow({ name: 'child' }), sources: [], params: [] };
    };
    const steps = [fan(['a', { name: 'x', port: 1 }], { executor: { type: 'workflow', config: {} } })];
    await withEngine({ work, findSubworkflow }, async ({ start }) => {
      await start(workflow({ steps })).finished;
    });
    expect(given).toEqual(['"${ITEM}"', '"${ITEM}"']);
  });
});
