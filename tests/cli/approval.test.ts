import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { userName } from '#service/user-name.ts';
import { type Place, withPlace } from '../support/past-runs.ts';

const gate = `steps:
  - {name: plan, command: echo planned}
  - name: go
    depends: plan
    command: echo 99
    output: SUM
    approval: {prompt: "Ship $SUM?", input: [WHY, {name: N, type: integer, default: 3}], required: WHY}
  - {name: ship, depends: go, command: 'echo "ship $SUM for $WHY, $N"'}
`;

async function begin({ start }: Place, file = 'gate.yaml', id = 'r1', ...args: readonly string[]) {
  const run = start('run', file, '--run-id', id, '--reporter', 'plain', ...args);
  await run.until('WAIT');
  return run;
}

describe('a step that waits for approval', () => {
  it('continues with the inputs of the first answer, which is stored before the command ends', async () => {
    await withPlace({ 'gate.yaml': gate }, async (place) => {
      const run = await begin(place);
      expect(run.printed()).toContain('WAIT   Ship 99? (wf approve -p WHY=... r1 go)\n');
      expect(await place.json('status', 'r1')).toMatchObject({ status: 'running', waitingFor: ['go'] });
      expect((await place.wf('status', 'r1')).stdout).toContain(
        'go waits for approval: Ship 99?\n  approve: wf approve -p WHY=... r1 go',
      );
      expect((await place.wf('history', '--waiting')).stdout).toMatch(
        /r1 .* running .* approve: wf approve -p WHY=\.{3} r1 go\n$/,
      );
      const faulty = await place.wf('approve', 'r1', '-p', 'WY=x', '-p', 'N=two');
      expect([faulty.code, faulty.stdout]).toEqual([2, '']);
      expect(faulty.stderr).toBe(
        'error: unknown input "WY": did you mean "WHY"? the approval takes WHY, N\nerror: input "WHY" is required and cannot be empty\nerror: input "N" must be an integer\n',
      );
      const approved = await place.wf('approve', 'r1', '-p', 'WHY=it is time', '--comment', 'checked');
      expect(approved).toMatchObject({ code: 0, stdout: 'step "go" of run r1 of "gate" is approved\n', stderr: '' });
      expect((await run.ended).code).toBe(0);
      expect(run.printed()).toContain('| ship 99 for it is time, 3');
      const by = `approved by ${userName()}: checked`;
      expect(run.printed()).toContain(`ANSWER ${by}\n`);
      expect(run.printed()).toContain(`\ngo ${by}\n`);
      const shown = (await place.wf('status', 'r1')).stdout;
      expect(shown).toMatch(new RegExp(`^ {2}✔ go +\\d+\\.\\ds +${by}$`, 'm'));
      expect(shown).toContain(`\ngo ${by}\n`);
      const { steps, waitingFor } = await place.json('status', 'r1');
      expect([waitingFor, steps[1]?.outputs]).toEqual([undefined, { SUM: '99', WHY: 'it is time', N: '3' }]);
      expect(steps[1]?.approval).toMatchObject({ answer: 'approved', comment: 'checked', prompt: 'Ship 99?' });
      expect(await place.json('history', '--waiting')).toEqual([]);
      const again = await place.wf('reject', 'r1', 'go');
      expect([again.code, again.stderr]).toEqual([
        2,
        `error: step "go" was already approved by ${steps[1]?.approval?.by}\n`,
      ]);
      const nothing = await place.wf('approve', 'r1');
      expect([nothing.code, nothing.stderr]).toEqual([
        2,
        'error: nothing waits for approval in run r1\n  help: "wf history --waiting" lists the runs in which a step waits\n',
      ]);
    });
  });

  it('is listed by the status of the runs above it, at any depth', async () => {
    const files = {
      'gate.yaml': gate,
      'mid.yaml': 'params: REGION=none\nsteps: [{name: release, run: gate}]\n',
      'top.yaml': 'steps: [{name: all, run: mid, parallel: [eu]}, {name: other, command: echo}]\n',
    };
    await withPlace(files, async (place) => {
      const run = await begin(place, 'top.yaml');
      const [{ runId } = { runId: '' }] = JSON.parse((await place.wf('history', '--waiting', '--json')).stdout);
      const { stdout } = await place.wf('status', 'r1');
      expect(stdout).toContain(
        `go in gate, run by release, waits for approval: Ship 99?\n  approve: wf approve -p WHY=... ${runId.slice(0, 13)} go\n`,
      );
      await place.wf('reject', runId);
      expect((await run.ended).code).toBe(1);
      expect((await place.wf('status', 'r1')).stdout).not.toContain('waits for approval');
    });
  });

  it('fails when it is rejected', async () => {
    await withPlace({ 'gate.yaml': gate }, async (place) => {
      const run = await begin(place);
      expect((await place.wf('reject', 'r1', '--reason', 'not on a Friday')).code).toBe(0);
      expect((await run.ended).code).toBe(1);
      const { steps, reason } = await place.json('status', 'r1');
      expect([reason, ...steps.map((step) => step.status)]).toEqual(['step', 'succeeded', 'failed', 'upstream_failed']);
      expect(steps[1]).toMatchObject({
        reason: 'rejected',
        error: expect.stringMatching(/^rejected by .+: not on a Friday$/),
      });
      // Once in the tree, once in the recap.
      expect((await place.wf('status', 'r1')).stdout.match(/: not on a Friday/g)).toHaveLength(2);
    });
  });

  it('of two answers at once only one counts, and the other says so', async () => {
    await withPlace({ 'gate.yaml': gate }, async (place) => {
      const run = await begin(place);
      const answers = await Promise.all([
        place.wf('approve', 'r1', 'go', '-p', 'WHY=x'),
        place.wf('reject', 'r1', 'go'),
        place.wf('approve', 'r1', 'go', '-p', 'WHY=y'),
      ]);
      await run.ended;
      const { steps } = await place.json('status', 'r1');
      const answer = steps[1]?.approval?.answer;
      const [told, refused] = [answers.filter(({ code }) => code === 0), answers.filter(({ code }) => code === 2)];
      expect(told.map(({ stdout }) => stdout)).toEqual([`step "go" of run r1 of "gate" is ${answer}\n`]);
      expect(refused.map(({ stderr }) => stderr.startsWith(`error: step "go" was already ${answer} by `))).toEqual([
        true,
        true,
      ]);
      const kept = readdirSync(join(place.runsDir, 'r1')).filter((name) => name.startsWith('answer'));
      expect(kept.map((name) => readFileSync(join(place.runsDir, 'r1', name), 'utf8'))).toEqual(['']);
    });
  });

  it('asks again in the retry of a stopped or lost run, without its command', async () => {
    await withPlace({ 'gate.yaml': gate }, async (place) => {
      const run = await begin(place);
      run.kill('SIGKILL');
      await run.ended;
      expect(await place.json('status', 'r1')).toMatchObject({ status: 'failed', reason: 'lost' });
      const again = place.start('retry', 'r1', '--run-id', 'r2', '--reporter', 'plain');
      await again.until('WAIT');
      expect((await place.wf('stop', 'r2')).code).toBe(0);
      expect((await again.ended).code).toBe(143);
      const last = place.start('retry', 'r2', '--run-id', 'r3', '--reporter', 'plain');
      await last.until('WAIT');
      expect((await place.wf('approve', 'r3', '-p', 'WHY=x')).code).toBe(0);
      expect((await last.ended).code).toBe(0);
      const { steps } = await place.json('status', 'r3');
      expect(steps.map(({ attempts }) => attempts)).toEqual([0, 0, 1]);
      expect(last.printed()).toContain('| ship 99 for x, 3');
    });
  });

  it('can be answered only while its owner is alive, and only by the users in "by"', async () => {
    const named = 'steps:\n  - {name: go, approval: {by: [someone-else]}}\n';
    await withPlace({ 'named.yaml': named }, async (place) => {
      const run = await begin(place, 'named.yaml');
      const denied = await place.wf('approve', 'r1');
      expect([denied.code, denied.stderr]).toEqual([
        2,
        expect.stringMatching(/may not answer step "go": only someone-else may/),
      ]);
      run.kill('SIGKILL');
      await run.ended;
      expect((await place.wf('approve', 'r1', 'go')).stderr).toBe(
        'error: step "go" does not wait for approval: it is canceled\n',
      );
    });
  });

  it('never shows a secret input', async () => {
    const secret = `steps:
  - {name: go, approval: {input: [{name: PIN, secret: true}]}}
  - {name: use, depends: go, command: 'echo "PIN is $PIN"; printf "$PIN" | wc -c'}
`;
    await withPlace({ 'secret.yaml': secret }, async (place) => {
      const run = await begin(place, 'secret.yaml');
      const approved = await place.wf('approve', 'r1', '-p', 'PIN=hunter22', '--json');
      expect((await run.ended).code).toBe(0);
      expect(run.printed()).toMatch(/\| PIN is \*\*\*\n.*\| 8\n/);
      const shown = [
        approved,
        await run.ended,
        await place.wf('status', 'r1'),
        await place.wf('status', 'r1', '--json'),
      ];
      expect(shown.filter(({ stdout }) => stdout.includes('hunter22'))).toEqual([]);
      const kept = readdirSync(place.runsDir, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map(({ parentPath, name }) => join(parentPath, name));
      expect(kept.filter((path) => readFileSync(path, 'utf8').includes('hunter22'))).toEqual([]);
    });
  });

  it('does not use the time limit of the run', async () => {
    const limited =
      'timeoutSec: 1\nsteps:\n  - {name: go, approval: {timeoutSec: 1.5, onTimeout: approve}}\n  - {name: after, depends: go, command: "true"}\n';
    await withPlace({ 'limited.yaml': limited }, async (place) => {
      expect((await place.wf('run', 'limited.yaml', '--run-id', 'r1')).code).toBe(0);
      const { steps } = await place.json('status', 'r1');
      expect(steps[0]?.approval).toMatchObject({ answer: 'approved', by: null, comment: 'not answered within 1.5s' });
      expect((await place.wf('status', 'r1')).stdout).toMatch(/✔ go +\S+ {2}approved: not answered within 1\.5s$/m);
    });
  });
});
