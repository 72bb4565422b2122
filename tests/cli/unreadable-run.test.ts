import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

const flow = 'steps:\n  - name: a\n    command: echo hello\n';

/** A run whose snapshot and journal are damaged. */
async function unreadable({ wf, runsDir }: Place, runId: string): Promise<void> {
  expect((await wf('run', 'flow.yaml', '--run-id', runId)).code).toBe(0);
  for (const name of ['snapshot.json', 'journal.jsonl']) writeFileSync(join(runsDir, runId, name), 'garbage\n');
}

/** Makes every read of a run fail, also for the superuser. */
function refuseReads(runsDir: string, runId: string): void {
  for (const name of ['snapshot.json', 'journal.jsonl', 'owner']) {
    rmSync(join(runsDir, runId, name));
    symlinkSync(name, join(runsDir, runId, name));
  }
}

describe('a run whose snapshot and journal are damaged', () => {
  it('is named with the place of its files', async () => {
    await withPlace({ 'flow.yaml': flow }, async (place) => {
      await unreadable(place, 'r1');
      const { wf, runsDir } = place;
      const error = [
        'error: run r1 cannot be read: its workflow and its events are damaged or missing',
        `  help: what is left, such as the output of steps, is in ${runsDir}/r1; remove this directory to forget the run`,
      ];
      const commands = [['status'], ['logs'], ['logs', '-f'], ['retry'], ['stop'], ['report'], ['restart']];
      for (const words of [...commands.map((command) => [...command, 'r1']), ['status', 'flow']]) {
        const { code, stdout, stderr } = await wf(...words);
        expect({ words, code, stdout, stderr }).toEqual({
          words,
          code: 2,
          stdout: '',
          stderr: `${error.join('\n')}\n`,
        });
      }
    });
  });

  it('does not keep wf stop --all from the active runs of its workflow', async () => {
    const slow = 'steps:\n  - name: a\n    command: sh -c "echo ready; sleep 60"\n';
    await withPlace({ 'flow.yaml': slow }, async (place) => {
      const run = place.start('run', 'flow.yaml', '--run-id', 'running');
      await run.until('| ready');
      place.write('flow.yaml', flow);
      await unreadable(place, 'r1');
      expect(await place.wf('stop', 'flow', '--all')).toMatchObject({
        code: 0,
        stdout: 'run running of "flow" is stopped\n',
      });
      await run.ended;
    });
  });
});

describe('a run whose files cannot be read', () => {
  it('is not said to have ended', async () => {
    await withPlace({ 'flow.yaml': flow }, async ({ wf, runsDir }) => {
      await wf('run', 'flow.yaml', '--run-id', 'r1');
      refuseReads(runsDir, 'r1');
      for (const command of ['status', 'logs', 'stop', 'retry']) {
        const { code, stdout, stderr } = await wf(command, 'r1');
        expect([command, code, stdout]).toEqual([command, 2, '']);
        expect(stderr.replaceAll(runsDir, '~').split('\n')).toEqual([
          'error: run r1 cannot be read: cannot read "~/r1/snapshot.json": too many symbolic links; cannot read "~/r1/journal.jsonl": too many symbolic links',
          '  help: its files are in ~/r1; check who owns them, and the disk',
          '',
        ]);
      }
      const { code, stdout } = await wf('history');
      expect([code, stdout]).toEqual([0, expect.stringContaining('its files cannot be read; cannot read')]);
      expect(await wf('history', '--waiting')).toMatchObject({ code: 0, stdout: '', stderr: 'no runs\n' });
    });
  });

  it('does not keep wf stop from the running run of its workflow', async () => {
    const slow = 'steps:\n  - name: a\n    command: sh -c "echo ready; sleep 60"\n';
    await withPlace({ 'flow.yaml': flow }, async ({ wf, start, write, runsDir }) => {
      await wf('run', 'flow.yaml', '--run-id', 'r1');
      refuseReads(runsDir, 'r1');
      write('flow.yaml', slow);
      const run = start('run', 'flow.yaml', '--run-id', 'running');
      await run.until('| ready');
      expect(await wf('stop', 'flow')).toMatchObject({ code: 0, stdout: 'run running of "flow" is stopped\n' });
      await run.ended;
    });
  });
});

it('a run that is named in place of a workflow is not suggested again', async () => {
  await withPlace({ 'flow.yaml': flow }, async ({ wf }) => {
    await wf('run', 'flow.yaml', '--run-id', 'r1');
    expect(await wf('history', 'r1')).toMatchObject({
      code: 2,
      stderr: 'error: "r1" is a run, not a workflow\n  help: wf status r1 shows it\n',
    });
  });
});

it('a run without its snapshot cannot be marked, but its present file can run', async () => {
  await withPlace({ 'flow.yaml': flow }, async ({ wf, runsDir }) => {
    await wf('run', 'flow.yaml', '--run-id', 'r1');
    rmSync(join(runsDir, 'r1/snapshot.json'));
    const { code, stderr } = await wf('mark', 'r1', 'a', 'failed');
    expect([code, stderr.split('\n')[1]]).toEqual([2, '  help: wf retry r1 --file runs the present file']);
    expect((await wf('retry', 'r1', '--file')).code).toBe(0);
  });
});

describe('wf logs of a run with damaged files', () => {
  it.each([
    ['snapshot.json', 'home/runs/r1'],
    ['journal.jsonl', 'home/runs/r1/logs'],
  ])('names the damage to %s and the files of the output', async (name, directory) => {
    await withPlace({ 'flow.yaml': flow }, async ({ wf, cwd, runsDir }) => {
      await wf('run', 'flow.yaml', '--run-id', 'r1');
      rmSync(join(runsDir, 'r1', name));
      for (const _ of ['before and', 'after the run is recorded as lost']) {
        const { code, stdout, stderr } = await wf('logs', 'r1');
        expect([code, stdout]).toEqual([0, '']);
        expect(stderr.replaceAll(cwd, '~').split('\n')).toEqual([
          expect.stringMatching(new RegExp(`^warning: "~/home/runs/r1/${name}" is `)),
          `no output of run r1 is known; what its steps printed is in ~/${directory}`,
          '',
        ]);
      }
    });
  });
});
