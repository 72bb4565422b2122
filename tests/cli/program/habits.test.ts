import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { wf, withDirectory } from '../../support/wf.ts';

it.each([
  ['ls', 'unknown command "ls"', 'wf list for workflows, wf history for runs'],
  ['cancel nightly', 'unknown command "cancel"', 'wf stop RUN'],
  ['nightly.yaml', '"nightly.yaml" is no command', 'wf run nightly.yaml'],
  ['stop --run-id=r1 nightly', 'wf stop has no --run-id: the run is named instead of its workflow', 'wf stop r1'],
  [
    'status nightly --request-id r1',
    'wf status has no --request-id: the run is named instead of its workflow',
    'wf status r1',
  ],
])('names the command that another runner calls %s', async (line, message, help) => {
  const stderr = `error: ${message}\n  help: ${help}\n`;
  expect(await wf(line.split(' '))).toMatchObject({ code: 2, stdout: '', stderr });
});

it('retries the run that other runners name by options', () =>
  withDirectory(async (cwd) => {
    writeFileSync(join(cwd, 'w.yaml'), 'steps: [{name: a, command: "false"}]\n');
    const run = (...words: string[]) => wf(words, { cwd, env: { WF_HOME: join(cwd, 'home') } });
    await run('run', 'w.yaml', '-q', '--run-id', 'one');
    expect(await run('retry', '--run-id=one', 'w')).toMatchObject({
      code: 2,
      stderr:
        'error: a run "one" exists already, and --run-id names the new run\n  help: wf retry one retries that run\n',
    });
    const { code, stdout } = await run('retry', '--request-id=one', 'w.yaml', '--reporter', 'json');
    expect([code, stdout]).toEqual([1, expect.stringContaining('"retryOf":"one"')]);
  }));
