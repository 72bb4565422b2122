import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { canMakeNetworks, type Machine, makeNetwork, type Network } from '../../support/networks.ts';
import { describeWithAll } from '../../support/require.ts';
import { hasTemporal, type StartedWorker, startTemporal, type TemporalServer } from '../../support/temporal.ts';
import { notedScript, readNotes } from '../../support/temporal-chaos.ts';
import { type RunningWf, startWf } from '../../support/wf.ts';

/** A step that notes its begin and end outside of `wf`, and takes a time in seconds. */
const noted = (seconds: number) => `
steps:
  - name: work
    script: |
      echo "$WORKER" > "$NOTES.worker"
${notedScript(String(seconds), '      ')}
    retryPolicy: {limit: 3, intervalSec: 0}
`;

describeWithAll({ temporal: hasTemporal, netns: canMakeNetworks }, 'machines that a broken network parts', () => {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  let network: Network;
  let machines: readonly Machine[] = [];
  let server: TemporalServer;
  let workers: readonly StartedWorker[] = [];
  const begun: RunningWf[] = [];

  beforeAll(async () => {
    network = makeNetwork(3);
    machines = network.machines;
    server = await startTemporal(directory, { at: network });
    workers = await Promise.all(
      ['one', 'two'].map((name, index) => server.worker(name, { through: machines[index]?.through ?? [] })),
    );
  }, 60_000);
  afterAll(async () => {
    for (const machine of machines) machine.heal();
    for (const run of begun) run.kill('SIGKILL');
    await Promise.all(begun.map(({ ended }) => ended));
    await server.close();
    network.remove();
    rmSync(directory, { recursive: true, force: true });
  });

  /** Starts `wf run` on the third machine; `notes`: the directory to which its steps write. */
  function run(seconds: number, options: readonly string[]): { readonly started: RunningWf; readonly notes: string } {
    const cwd = mkdtempSync(join(directory, 'run-'));
    const notes = join(cwd, 'notes');
    mkdirSync(notes);
    writeFileSync(join(cwd, 'work.yaml'), `env: [{NOTES: "${notes}"}]${noted(seconds)}`);
    const args = ['run', 'work.yaml', '--engine', server.url, '--reporter', 'plain', ...options];
    const env = { HOME: cwd, WF_HOME: join(cwd, 'home') };
    const started = startWf(args, { cwd, env, mergesErrors: true, through: machines[2]?.through ?? [] });
    begun.push(started);
    return { started, notes };
  }

  const lines = (notes: string) =>
    readdirSync(notes)
      .flatMap((name) => readFileSync(join(notes, name), 'utf8').trim().split('\n'))
      .filter((line) => !line.startsWith('child'))
      .map((line) => line.split(' ').slice(0, 2).join(' '));
  /** The machine whose worker has begun the step. */
  async function holder(notes: string): Promise<Machine> {
    await expect.poll(() => lines(notes), { timeout: 30_000 }).toContain('begin 1');
    const name = readFileSync(`${notes}.worker`, 'utf8').trim();
    return machines[workers.findIndex((worker) => worker.name === name)] as Machine;
  }
  const parted = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

  it('a worker that is cut off for long ends its step before the other one begins it', {
    timeout: 120_000,
  }, async () => {
    const { started, notes } = run(15, ['--lost-after', '5']);
    const machine = await holder(notes);
    machine.cut();
    const { code, stdout } = await started.ended;
    machine.heal();
    expect({ code, isLost: /the worker "\w+" was lost/.test(stdout), lines: lines(notes) }).toEqual({
      code: 0,
      isLost: true,
      lines: ['begin 1', 'begin 2', 'end 2'],
    });
    expect(readNotes(notes)).toMatchObject({ doubled: [], overlapping: [], unfinished: [] });
  });

  it('a worker that is cut off for a moment loses nothing', { timeout: 120_000 }, async () => {
    const { started, notes } = run(8, ['--lost-after', '20']);
    const machine = await holder(notes);
    machine.cut();
    await parted(4000);
    machine.heal();
    expect((await started.ended).code).toBe(0);
    expect(lines(notes)).toEqual(['begin 1', 'end 1']);
  });

  it('wf run that is cut off shows what has happened meanwhile', { timeout: 120_000 }, async () => {
    const { started, notes } = run(2, []);
    await holder(notes);
    machines[2]?.cut();
    await expect.poll(() => lines(notes), { timeout: 30_000 }).toContain('end 1');
    await parted(5000);
    machines[2]?.heal();
    const { code, stdout } = await started.ended;
    expect({ code, lines: lines(notes), isShown: stdout.includes('did work 1') }).toEqual({
      code: 0,
      lines: ['begin 1', 'end 1'],
      isShown: true,
    });
  });

  it('both workers serve again', { timeout: 120_000 }, async () => {
    const found = new Set<string>();
    await expect
      .poll(
        async () => {
          const { started, notes } = run(0, []);
          await started.ended;
          found.add(readFileSync(`${notes}.worker`, 'utf8').trim());
          return found.size;
        },
        { timeout: 100_000 },
      )
      .toBe(2);
  });
});
