import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually, filesOf, journalOf, untilGone, untilOver } from '../support/background-runs.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { launcher } from '../support/wf.ts';

const gated = `params: WHO=nobody
steps:
  - name: wait
    command: sh -c 'echo "hi $WHO"; while [ ! -e go ]; do sleep 0.05; done'
`;
const hi = 'steps:\n  - name: hi\n    command: sh -c \'echo "[$WHO]" >> marks\'\nparams: WHO=nobody\n';

describe('wf run --detach', () => {
  it('prints the id of a run that continues in the background, with its parameters unchanged', async () => {
    await withPlace({ 'gated.yaml': gated }, async (place) => {
      const { code, stdout, stderr } = await place.wf('run', 'gated.yaml', '--detach', '--', 'WHO=a  "b" $(c)\n');
      const runId = stdout.trimEnd();
      expect([code, stdout, stderr]).toEqual([0, `${runId}\n`, '']);
      const going = await place.json('status', runId);
      expect(going).toMatchObject({
        status: 'running',
        trigger: 'cli',
        params: [{ name: 'WHO', value: 'a  "b" $(c)\n' }],
      });
      place.write('go', '');
      expect((await untilOver(place, runId, 'succeeded')).steps[0]?.status).toBe('succeeded');
      expect((await place.wf('logs', runId, 'wait')).stdout).toBe('hi a  "b" $(c)\n\n');
      expect(
        journalOf(place, runId)
          .map(({ type }) => type)
          .slice(0, 3),
      ).toEqual(['run.created', 'run.queued', 'run.owned']);
    });
  });

  it('survives the end of the terminal', async () => {
    await withPlace({ 'gated.yaml': gated }, async (place) => {
      const script = `"${process.execPath}" "${launcher}" run gated.yaml --detach --run-id r1; sleep 60`;
      const env = { ...place.env, PATH: process.env['PATH'] ?? '' };
      const terminal = spawn('sh', ['-c', script], {
        cwd: place.cwd,
        env,
        detached: true,
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      await once(terminal.stdout, 'data');
      process.kill(-(terminal.pid ?? 0), 'SIGHUP');
      await once(terminal, 'exit');
      expect((await place.json('status', 'r1')).status).toBe('running');
      place.write('go', '');
      await untilOver(place, 'r1', 'succeeded');
    });
  });

  it('starts one run per id, however often it is requested', async () => {
    await withPlace({ 'hi.yaml': hi }, async (place) => {
      const asked = await Promise.all(
        Array.from({ length: 6 }, () => place.wf('run', 'hi.yaml', '--detach', '--run-id', 'one')),
      );
      expect(asked.map(({ code, stdout }) => [code, stdout])).toEqual(asked.map(() => [0, 'one\n']));
      const said = asked.filter(({ stderr }) => stderr === 'run one exists already: nothing was started\n');
      expect(said.length).toBe(asked.length - 1);
      await untilOver(place, 'one', 'succeeded');
      expect(readFileSync(join(place.cwd, 'marks'), 'utf8')).toBe('[nobody]\n');
    });
  });

  it('refuses an invalid run before anything is stored', async () => {
    await withPlace({ 'bad.yaml': 'steps: []\n', 'hi.yaml': hi }, async (place) => {
      expect((await place.wf('run', 'bad.yaml', '--detach')).code).toBe(2);
      expect((await place.wf('run', 'hi.yaml', '--detach', '--no-history')).code).toBe(2);
      expect((await place.wf('run', 'hi.yaml', '--detach', '-x')).code).toBe(2);
      expect(existsSync(place.runsDir)).toBe(false);
    });
  });

  it('passes secrets to the run and stores none of them', async () => {
    const secret = `secrets: [TOKEN]\nparams: TOKEN=\n${gated.replace('params: WHO=nobody\n', '').replace('hi $WHO', 'len ${#TOKEN}')}`;
    await withPlace({ 'secret.yaml': secret }, async (place) => {
      const value = 'very-secret-value';
      await place.wf('run', 'secret.yaml', '--detach', '--run-id', 'r1', '-p', `TOKEN=${value}`);
      // Until the run has started, what it begins with is on the disk.
      await eventually(async () => (await place.json('status', 'r1')).steps[0]?.status === 'running');
      expect(Object.entries(filesOf(place, 'r1')).filter(([, text]) => text.includes(value))).toEqual([]);
      place.write('go', '');
      await untilOver(place, 'r1', 'succeeded');
      expect((await place.wf('logs', 'r1', 'wait')).stdout).toBe(`len ${value.length}\n`);
      expect(Object.values(filesOf(place, 'r1')).filter((text) => text.includes(value))).toEqual([]);
    });
  });

  it('starts a run of its own from a step of another run', async () => {
    const outer = `steps:\n  - name: start\n    command: ${process.execPath} ${launcher} run gated.yaml --detach --run-id inner\n`;
    await withPlace({ 'gated.yaml': gated, 'outer.yaml': outer }, async (place) => {
      expect((await place.wf('run', 'outer.yaml')).code).toBe(0);
      expect((await place.json('status', 'inner')).status).toBe('running');
      place.write('go', '');
      await untilOver(place, 'inner', 'succeeded');
    });
  });
});

describe('a killed carrier', () => {
  it('leaves a finished run, and no scratch directory', async () => {
    for (const id of ['k1', 'k2', 'k3']) {
      await withPlace({ 'gated.yaml': gated }, async (place) => {
        const asked = place.start('run', 'gated.yaml', '--detach', '--run-id', id);
        // The step waits for the file, so the run cannot end before its carrier was seen.
        const carrier = await eventually(() => claimerOf(place, id));
        process.kill(carrier, 'SIGKILL');
        expect(await asked.ended).toMatchObject({ code: 0, stdout: `${id}\n`, stderr: '' });
        place.write('go', '');
        const run = await eventually(async () => {
          const seen = await place.json('status', id);
          return seen.finishedAt !== null && seen;
        });
        // A carrier that dies before it reports is replaced; a run that has begun is lost with its carrier.
        expect([
          ['succeeded', null],
          ['failed', 'lost'],
        ]).toContainEqual([run.status, run.reason]);
        await untilGone(run.owner?.pid ?? 0);
        expect(Object.keys(filesOf(place, id)).filter((name) => name.startsWith('scratch'))).toEqual([]);
      });
    }
  });
});

describe('wf restart', () => {
  it('stops the running run and starts the current file with the same parameters', async () => {
    await withPlace({ 'gated.yaml': gated }, async (place) => {
      const value = ' $HOME "quoted" `x`';
      await place.wf('run', 'gated.yaml', '--detach', '--run-id', 'r1', '-p', `WHO=${value}`);
      place.write('gated.yaml', `${gated}    description: new\n`);
      const again = await place.wf('restart', 'gated', '--detach', '--run-id', 'r2');
      expect(again).toMatchObject({ code: 0, stdout: 'r2\n', stderr: 'run r1 of "gated" is stopped\n' });
      expect((await place.json('status', 'r1')).status).toBe('canceled');
      expect((await place.json('status', 'r2')).params).toEqual([{ name: 'WHO', value }]);
      place.write('go', '');
      await untilOver(place, 'r2', 'succeeded');
      expect((await place.wf('restart', 'r2', '--reporter', 'plain')).stdout).toContain(`| hi ${value}\n`);
    });
  });

  it('stops nothing if the file cannot be started again', async () => {
    await withPlace({ 'gated.yaml': gated }, async (place) => {
      await place.wf('run', 'gated.yaml', '--detach', '--run-id', 'r1');
      place.write('gated.yaml', 'steps: []\n');
      expect((await place.wf('restart', 'r1', '--detach')).code).toBe(2);
      expect((await place.json('status', 'r1')).status).toBe('running');
      place.write('go', '');
      await untilOver(place, 'r1', 'succeeded');
    });
  });
});

/** The number of the process that has taken a waiting run. */
function claimerOf({ runsDir }: Place, id: string): number | null {
  const directory = join(runsDir, id);
  const path = join(directory, 'owner.2');
  if (!existsSync(directory) || !readdirSync(directory).includes('owner.2') || statSync(path).size === 0) return null;
  return JSON.parse(readFileSync(path, 'utf8')).data.pid;
}

describe('wf retry --detach', () => {
  it('reruns unfinished steps in a run that continues in the background, and keeps succeeded ones', async () => {
    const flow =
      'steps:\n  - name: one\n    command: echo once\n  - name: two\n    command: test -e go\n    depends: one\n';
    await withPlace({ 'flow.yaml': flow }, async (place) => {
      expect((await place.wf('run', 'flow.yaml', '--run-id', 'first')).code).toBe(1);
      place.write('go', '');
      const retried = await place.wf('retry', 'first', '--detach', '--run-id', 'second');
      expect(retried).toMatchObject({ code: 0, stdout: 'second\n', stderr: '' });
      const { retryOf, steps } = await untilOver(place, 'second', 'succeeded');
      expect([retryOf, ...steps.map(({ attempts }) => attempts)]).toEqual(['first', 0, 1]);
    });
  });
});
