import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/background-runs.ts';
import { crash, type Place, withPlace } from '../support/past-runs.ts';

/** Every step notes that it ran; `b` succeeds once there is a file `fixed`. */
const chain = `params: WHO=nobody
steps:
  - name: a
    command: sh -c 'echo a >> ran; echo from a'
    output: FROM_A
  - name: b
    command: sh -c 'echo "b [$FROM_A] [$WHO]" >> ran; test -e fixed'
    depends: a
  - name: c
    command: sh -c 'echo c >> ran'
    depends: b
  - name: other
    command: sh -c 'echo other >> ran'
`;

function ran({ cwd }: Place): readonly string[] {
  const lines = readFileSync(join(cwd, 'ran'), 'utf8').trimEnd().split('\n').sort();
  rmSync(join(cwd, 'ran'));
  return lines;
}

async function failedOnce(place: Place, ...params: readonly string[]): Promise<void> {
  expect((await place.wf('run', 'w.yaml', '--run-id', 'first', ...params)).code).toBe(1);
  ran(place);
  place.write('fixed', '');
}

describe('wf retry', () => {
  it('runs the steps that did not succeed, with the outputs of the others', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place);
      const { code, stdout } = await place.wf('retry', 'first', '--run-id', 'second');
      expect([code, ran(place)]).toEqual([0, ['b [from a] [nobody]', 'c']]);
      expect(stdout).toMatch(/^SUCCEEDED w in .* {3}4 succeeded$/m);
      const second = await place.json('status', 'second');
      expect([second.retryOf, second.status, second.steps.map(({ attempts }) => attempts)]).toEqual([
        'first',
        'succeeded',
        [0, 1, 1, 0],
      ]);
      expect(second.steps[0]?.outputs).toEqual({ FROM_A: 'from a' });
      expect((await place.json('status', 'first')).status).toBe('failed');
    });
  });

  it.each(['SIGINT', 'SIGKILL'] as const)('keeps results after a retry that %s ended before its first step', (signal) =>
    withPlace(
      {
        'w.yaml': `preconditions: {condition: "\`test -e slow && touch begun && sleep 60; echo 1\`", expected: "1"}\n${chain}`,
      },
      async (place) => {
        await failedOnce(place);
        place.write('slow', '');
        const stopped = place.start('retry', 'first', '-p', 'WHO=me', '--run-id', 'second');
        await eventually(() => existsSync(join(place.cwd, 'begun')));
        stopped.kill(signal);
        await stopped.ended;
        rmSync(join(place.cwd, 'slow'));
        expect((await place.json('status', 'second')).steps.map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0]);
        expect((await place.wf('retry', 'second')).code).toBe(0);
        expect(ran(place)).toEqual(['b [from a] [me]', 'c']);
        expect((await place.json('status')).retryOf).toBe('first');
      },
    ),
  );

  it('can be retried again, with the outputs of the first run', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place);
      rmSync(join(place.cwd, 'fixed'));
      expect((await place.wf('retry', 'w', '--run-id', 'second')).code).toBe(1);
      place.write('fixed', '');
      ran(place);
      expect((await place.wf('retry', '@failed')).code).toBe(0);
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'c']);
    });
  });

  it.each([
    [['--step', 'b'], ['b [from a] [nobody]']],
    [
      ['--from', 'a'],
      ['a', 'b [from a] [nobody]', 'c'],
    ],
    [['--step', 'other'], ['other']],
  ])('with %j runs only that step', async (flags, expected) => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place);
      await place.wf('retry', 'first', ...flags);
      expect(ran(place)).toEqual(expected);
    });
  });

  it('fails while a failure is kept, and shows how that step failed and which run has its logs', async () => {
    const steps = `steps:
  - name: broken
    command: sh -c 'echo no table; exit 3'
  - name: flaky
    command: sh -c 'test -e fixed && echo went on'
`;
    await withPlace({ 'w.yaml': steps }, async (place) => {
      await place.wf('run', 'w.yaml', '--run-id', 'first');
      place.write('fixed', '');
      const second = await place.wf('retry', 'first', '--step', 'flaky', '--run-id', 'second');
      expect(second.code).toBe(1);
      expect(second.stdout).toContain('[broken] KEPT   failed before: exit 3\n');
      expect(second.stdout).toMatch(/^FAILED w in .* {3}1 succeeded · 1 failed$/m);
      const third = await place.wf('retry', 'second', '--step', 'flaky', '--run-id', 'third', '--exit-code');
      expect(third.code).toBe(3);
      expect(third.stdout).toContain('broken   exit 3   in run first, not run again   w.yaml:2:5\n');
      expect(third.stdout).toContain('  logs: wf logs first broken\n\nretry what failed: wf retry third\n');
      const shown = (await place.wf('status', 'third')).stdout;
      expect(shown).toMatch(/broken +exit 3 {2}kept from before\n/);
      expect(shown).toContain('logs: wf logs first broken\n');
      const { status, reason, error, steps: told } = await place.json('status', 'third');
      expect([status, reason, error]).toEqual([
        'failed',
        'step',
        'step "broken" did not succeed in an earlier run and was not rerun',
      ]);
      expect(told[0]).toMatchObject({ status: 'failed', reason: 'exit', error: 'exit 3', exitCode: 3, attempts: 0 });
      expect(await place.wf('logs', 'third', 'broken')).toEqual({
        ...(await place.wf('logs', 'first', 'broken')),
        stderr: 'step "broken" was kept from run first, which has this output\n',
      });
      expect(await place.wf('logs', 'third')).toMatchObject({
        code: 0,
        stdout: '[broken] no table\n[flaky]  went on\n',
        stderr: 'step "broken" was kept from run first, which has this output\n',
      });
    });
  });

  it('passes the same parameters, byte for byte, unless others are given', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place, '-p', 'WHO=  "two"  $HOME `id` \\');
      await place.wf('retry', 'first');
      expect(ran(place)).toEqual(['b [from a] [  "two"  $HOME `id` \\]', 'c']);
      await place.wf('retry', 'first', '--', 'WHO=else');
      expect(ran(place)).toEqual(['b [from a] [else]', 'c']);
    });
  });

  it('runs the workflow as stored; with --file as it is now, and lists the differences', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place);
      const edited = chain.replace('echo c >> ran', 'echo edited >> ran').replace('  - name: other', '  - name: added');
      place.write('w.yaml', edited);
      expect((await place.wf('retry', 'first')).stderr).toBe('');
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'c']);
      expect((await place.wf('retry', 'first', '--file')).stderr).toBe(
        'the file has changed: new step "added"; changed step "c"; removed step "other"\n',
      );
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'edited', 'other']);
    });
  });

  it('has nothing to do for a successful run, unless a step is named', async () => {
    await withPlace({ 'w.yaml': chain, fixed: '' }, async (place) => {
      await place.wf('run', 'w.yaml', '--run-id', 'good');
      ran(place);
      expect(await place.wf('retry', 'good')).toEqual({
        code: 0,
        signal: null,
        stdout: 'nothing to do: every step of run good succeeded\n',
        stderr: '',
      });
      await place.wf('retry', 'good', '--step', 'c');
      expect(ran(place)).toEqual(['c']);
    });
  });

  it('runs the handlers again when one of them failed', async () => {
    const handled = 'steps:\n  - name: a\n    command: "true"\nhandlerOn:\n  exit:\n    command: test -e fixed\n';
    await withPlace({ 'w.yaml': handled }, async (place) => {
      expect((await place.wf('run', 'w.yaml')).code).toBe(1);
      place.write('fixed', '');
      expect((await place.wf('retry', 'w')).code).toBe(0);
    });
  });

  it('continues a run whose process was killed', async () => {
    const slow = chain.replace('test -e fixed', 'echo started; test -e fixed || sleep 300');
    await withPlace({ 'w.yaml': slow }, async (place) => {
      await crash(place, '| started', 'w.yaml', '--run-id', 'first');
      ran(place);
      place.write('fixed', '');
      expect((await place.wf('retry', 'first')).code).toBe(0);
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'c']);
    });
  });

  it('runs the handlers of a run whose process was killed in one of them', async () => {
    const handled = `steps:
  - name: a
    command: sh -c 'echo a >> ran'
handlerOn:
  success:
    command: sh -c 'echo handling; test -e fixed || sleep 300; echo handled >> ran'
`;
    await withPlace({ 'w.yaml': handled }, async (place) => {
      await crash(place, '| handling', 'w.yaml', '--run-id', 'first');
      ran(place);
      place.write('fixed', '');
      expect((await place.wf('retry', 'first')).code).toBe(0);
      expect(ran(place)).toEqual(['handled']);
    });
  });

  it('returns exit codes and passes signals on as wf run does', async () => {
    const exits = "steps:\n  - name: a\n    command: sh -c 'exit 7'\n";
    const slow =
      'steps:\n  - name: a\n    command: sh -c "echo ready; test -e first && sleep 60; touch first; exit 1"\n';
    await withPlace({ 'exits.yaml': exits, 'slow.yaml': slow }, async ({ wf, start }) => {
      await wf('run', 'exits.yaml');
      expect((await wf('retry', 'exits', '-x')).code).toBe(7);
      await wf('run', 'slow.yaml');
      const run = start('retry', 'slow');
      await run.until('| ready');
      run.kill('SIGINT');
      expect((await run.ended).code).toBe(130);
    });
  });
});

describe('wf retry refuses', () => {
  it('a run that is still running', async () => {
    const slow = 'steps:\n  - name: a\n    command: sh -c "echo ready; sleep 60"\n';
    await withPlace({ 'w.yaml': slow }, async ({ start, wf }) => {
      const run = start('run', 'w.yaml', '--run-id', 'busy');
      await run.until('| ready');
      const { code, stderr } = await wf('retry', 'busy');
      expect([code, stderr]).toEqual([
        2,
        expect.stringMatching(new RegExp(`^error: run busy is still running: process ${run.pid} on ".+" runs it\n`)),
      ]);
      run.kill('SIGTERM');
      await run.ended;
    });
  });

  it('unknown steps and runs, and contradictory options', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place);
      const told = [];
      for (const words of [['first', '--step', 'bb'], ['first', '--step', 'b', '--from', 'b'], ['none']]) {
        const { code, stdout, stderr } = await place.wf('retry', ...words);
        told.push([code, stdout, stderr.split('\n')[0]]);
      }
      expect(told).toEqual([
        [2, '', 'error: the workflow has no step "bb"'],
        [2, '', 'error: --step and --from exclude each other'],
        [2, '', 'error: no run and no workflow that has run is called "none"'],
      ]);
    });
  });

  it('a mask as the value of a secret parameter', async () => {
    const secret = `secrets: [TOKEN]\n${chain.replace('params: WHO=nobody', 'params: WHO=nobody TOKEN=')}`;
    await withPlace({ 'w.yaml': secret }, async (place) => {
      await failedOnce(place, '-p', 'TOKEN=very-secret-value');
      const { code, stdout, stderr } = await place.wf('retry', 'first');
      expect([code, stdout, stderr]).toEqual([
        2,
        '',
        'error: run first was given secret parameters, which are not kept: "TOKEN"\n' +
          '  help: give all its parameters again, with -p NAME=value\n',
      ]);
      expect((await place.wf('retry', 'first', '-p', 'TOKEN=very-secret-value')).code).toBe(0);
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'c']);
    });
  });

  it('the defaults in place of parameters that the journal does not hold', async () => {
    await withPlace({ 'w.yaml': chain }, async (place) => {
      await failedOnce(place, '-p', 'WHO=me');
      // The process was killed before the first event.
      writeFileSync(join(place.runsDir, 'first/journal.jsonl'), '');
      for (const command of ['retry', 'restart']) {
        const { code, stdout, stderr } = await place.wf(command, 'first');
        expect([code, stdout, stderr]).toEqual([
          2,
          '',
          'error: the parameters of run first are unknown: its journal is empty\n' +
            '  help: start workflow "w" again, or give all its parameters with -p NAME=value\n',
        ]);
      }
      expect((await place.wf('retry', 'first', '-p', 'WHO=me')).code).toBe(0);
      expect(ran(place)).toEqual(['a', 'b [from a] [me]', 'c', 'other']);
    });
  });

  it('a mask as a secret output, and runs its step again if possible', async () => {
    const secret = `secrets: [FROM_A]\n${chain}`;
    await withPlace({ 'w.yaml': secret }, async (place) => {
      await failedOnce(place);
      const alone = await place.wf('retry', 'first', '--step', 'b');
      expect([alone.code, alone.stderr.split('\n')[0]]).toEqual([
        2,
        'error: the step cannot run alone: outputs of other steps were secret and are not kept: "FROM_A"',
      ]);
      expect((await place.wf('retry', 'first')).code).toBe(0);
      expect(ran(place)).toEqual(['a', 'b [from a] [nobody]', 'c']);
    });
  });

  it('a workflow that spells out secrets, unless the file is read again', async () => {
    const secret = chain.replace('steps:', 'secrets: [PASS]\nenv:\n  - PASS: spelled-out-secret\nsteps:');
    await withPlace({ 'w.yaml': secret }, async (place) => {
      await failedOnce(place);
      const { code, stderr } = await place.wf('retry', 'first');
      expect([code, stderr]).toEqual([
        2,
        'error: the workflow of run first contains secrets, which are not stored\n' +
          '  help: use --file ("useFile" in the API) to run the current file\n',
      ]);
      expect((await place.wf('retry', 'first', '--file')).code).toBe(0);
      expect(ran(place)).toEqual(['b [from a] [nobody]', 'c']);
    });
  });
});
