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

describeWithAll(
  { temporal: hasTemporal, netns: canMakeNetworks },
  'runs whose machines, network or server fail',
  () => {
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
        ['one', 'two'].map((name, index) =>
          server.worker(name, { args: ['--slots', '2'], through: machines[index]?.through ?? [] }),
        ),
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

    type Begun = { readonly started: RunningWf; readonly notes: string };

    /** Starts `wf run` of a text; its steps may write to the directory `notes`. */
    function begin(
      text: string,
      own: { options?: readonly string[]; home?: string; through?: readonly string[] },
    ): Begun {
      const cwd = mkdtempSync(join(directory, 'run-'));
      const notes = join(cwd, 'notes');
      mkdirSync(notes);
      writeFileSync(join(cwd, 'work.yaml'), `env: [{NOTES: "${notes}"}]\n${text}`);
      const args = ['run', 'work.yaml', '--engine', server.url, '--reporter', 'plain', ...(own.options ?? [])];
      const env = { HOME: cwd, WF_HOME: own.home ?? join(cwd, 'home') };
      const started = startWf(args, { cwd, env, mergesErrors: true, through: own.through ?? [] });
      begun.push(started);
      return { started, notes };
    }

    /** Starts `wf run` of a step on the third machine; `seconds`: how long the step takes. */
    const run = (seconds: number, options: readonly string[]) =>
      begin(noted(seconds), { options, through: machines[2]?.through ?? [] });

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

    it('a server that is away for a moment loses nothing', { timeout: 120_000 }, async () => {
      const { started, notes } = run(8, ['--lost-after', '20']);
      await holder(notes);
      await server.restart(1000);
      expect((await started.ended).code).toBe(0);
      expect(lines(notes)).toEqual(['begin 1', 'end 1']);
    });

    it('a server that is away for long gets its step made again', { timeout: 120_000 }, async () => {
      const { started, notes } = run(15, ['--lost-after', '5']);
      await holder(notes);
      await server.restart(10_000);
      const { code, stdout } = await started.ended;
      expect({ code, isLost: stdout.includes('(attempt 2 of 4)'), lines: lines(notes) }).toEqual({
        code: 0,
        isLost: true,
        lines: ['begin 1', 'begin 2', 'end 2'],
      });
      expect(readNotes(notes)).toMatchObject({ doubled: [], overlapping: [], unfinished: [] });
    });

    it('both workers serve again', { timeout: 120_000 }, async () => {
      // As many steps at once as both have slots.
      const steps = ['a', 'b', 'c', 'd'].map(
        (name) => `{name: ${name}, script: "echo $WORKER > $NOTES/$WF_STEP; sleep 4"}`,
      );
      const found = async () => {
        const { started, notes } = begin(`steps: [${steps}]`, {});
        expect((await started.ended).code).toBe(0);
        return new Set(readdirSync(notes).map((name) => readFileSync(join(notes, name), 'utf8').trim()));
      };
      await expect.poll(found, { timeout: 100_000 }).toEqual(new Set(['one', 'two']));
    });

    /** What goes before a command to run it with a small disk at a directory. */
    const smallDisk = (path: string, size: string) => {
      mkdirSync(path, { recursive: true });
      const mount = `mount -t tmpfs -o size=${size},mode=700 none ${path} && exec "$@"`;
      return ['unshare', '--mount', 'sh', '-c', mount, 'sh'];
    };
    const printing = (name: string, bytes: number, depends = '') =>
      `{name: ${name}, command: "head -c ${bytes} /dev/zero | tr '\\\\0' x"${depends === '' ? '' : `, depends: ${depends}`}}`;

    it('a worker whose disk is full fails its step, and says why', { timeout: 120_000 }, async () => {
      for (const worker of workers) worker.kill('SIGTERM');
      await Promise.all(workers.map(({ ended }) => ended));
      const full = await server.worker('full', { through: smallDisk(join(directory, 'machine', 'full'), '1m') });
      const { started } = begin(`steps: [${printing('big', 3_000_000)}]`, {});
      const { code, stdout } = await started.ended;
      expect({ code, isNamed: stdout.includes('no space is left on the device of its log') }).toEqual({
        code: 1,
        isNamed: true,
      });
      full.kill('SIGKILL');
      await full.ended;
      await server.worker('three');
    });

    it('wf run whose disk is full says so, and its run continues', { timeout: 120_000 }, async () => {
      const home = join(directory, 'small');
      const large = ['a', 'b', 'c', 'd', 'e', 'f'].map((name, index, all) => printing(name, 60_000, all[index - 1]));
      const last = '{name: last, depends: f, command: touch $NOTES/last}';
      const own = { home, through: smallDisk(home, '300k') };
      const { started, notes } = begin(`steps: [${large}, ${last}]`, own);
      const { code, stdout } = await started.ended;
      expect({ code, isNamed: stdout.includes('error: cannot write: no space left on the device') }).toEqual({
        code: 1,
        isNamed: true,
      });
      await expect.poll(() => readdirSync(notes), { timeout: 30_000 }).toEqual(['last']);
    });
  },
);
