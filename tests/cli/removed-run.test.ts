import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { eventually } from '../support/background-runs.ts';
import { withPlace } from '../support/past-runs.ts';

const long = `steps:
  - name: long
    command: sh -c 'echo "pid $$"; exec sleep 300'
  - name: after
    command: echo after
    depends: long
`;

it('a running run whose directory is removed ends its steps and fails with the reason', async () => {
  await withPlace({ 'long.yaml': long }, async ({ start, wf, runsDir }) => {
    const run = start('run', 'long.yaml', '--run-id', 'r1');
    await run.until('| pid ');
    const pid = Number(/pid (\d+)/.exec(run.printed())?.[1]);
    await eventually(() => existsSync(join(runsDir, 'r1/owner.sock')));
    rmSync(join(runsDir, 'r1'), { recursive: true });

    const { code, stdout } = await run.ended;
    expect([code, existsSync(`/proc/${pid}`)]).toEqual([1, false]);
    expect(stdout).toContain('[long]  CANCEL stopped after');
    expect(stdout).toContain('[after] CANCEL');
    expect(stdout).toContain(`STOP   cannot write "${runsDir}/r1/journal.jsonl": it was removed`);
    expect((await wf('status', 'r1')).code).toBe(2);
  });
});
