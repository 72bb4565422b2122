import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Place, withPlace } from '../support/past-runs.ts';

const steps =
  'steps: [{ name: fetch rows, command: "true" }, { name: "load: all", command: "false", depends: fetch rows }]';

/** What can stand at the end of a line: which files, then the values. */
async function offered({ wf }: Place, line: string, word?: string): Promise<readonly string[]> {
  const { stdout, stderr } = await wf('complete', '--line', line, ...(word === undefined ? [] : ['--word', word]));
  expect(stderr).toBe('');
  return stdout
    .trimEnd()
    .split('\n')
    .map((text) => text.replace(/\t.*/, ''));
}

describe('wf complete', () => {
  it('completes commands, options and the choices of options', () =>
    withPlace({}, async (place) => {
      expect(await offered(place, 'wf val')).toEqual(['none', 'validate']);
      expect(await offered(place, 'wf lin')).toEqual(['none', 'lint']);
      expect(await offered(place, 'wf help com')).toEqual(['none', 'completion']);
      expect(await offered(place, 'wf --ver')).toEqual(['none', '--version']);
      expect(await offered(place, 'wf init --li')).toEqual(['none', '--list']);
      expect(await offered(place, 'wf graph a.yaml --format m')).toEqual(['none', 'mermaid']);
      expect(await offered(place, 'wf graph --format=d')).toEqual(['none', '--format=dot']);
      expect(await offered(place, 'wf completion ')).toEqual(['none', 'bash', 'zsh', 'fish']);
      expect(await offered(place, 'wf history --status succ')).toEqual(['none', 'succeeded']);
      expect(await offered(place, 'wf schema steps.retry')).toEqual(['none', 'steps.retryPolicy']);
      expect(await offered(place, 'wf config maxQ')).toEqual(['none', 'maxQueuedRuns']);
    }));

  it('completes reporters, and the parameters of the workflow', () =>
    withPlace({ 'deploy.yaml': `params: {TARGET: staging, COUNT: 3}\n${steps}` }, async (place) => {
      const reporters = ['tree', 'plain', 'github', 'json', 'quiet', 'junit=', 'summary='];
      expect(await offered(place, 'wf run deploy.yaml --reporter ')).toEqual(['none', ...reporters]);
      expect(await offered(place, 'wf run deploy.yaml --reporter=ju')).toEqual(['none', '--reporter=junit=']);
      expect(await offered(place, 'wf run deploy.yaml --output ')).toEqual(['none', 'full', 'last', 'errors', 'none']);
      expect(await offered(place, 'wf run deploy.yaml -p ')).toEqual(['none', 'TARGET=', 'COUNT=']);
      expect(await offered(place, 'wf run deploy.yaml -p TA')).toEqual(['none', 'TARGET=']);
      expect(await offered(place, 'wf run -p ')).toEqual(['none', 'TARGET=', 'COUNT=']);
      expect(await offered(place, 'wf run none.yaml -p ')).toEqual(['none']);
    }));

  it('completes the values of parameters, and the steps of the workflow', () => {
    const params = `params:
  - {name: ENV, enum: [dev, "staging eu"], default: staging eu}
  - {name: FAST, type: boolean}
  - {name: OTHER, default: plain}
  - {name: DAY, default: "\`date\`"}
  - {name: KEY, default: hidden}
secrets: [KEY]
`;
    return withPlace({ 'deploy.yaml': `${params}${steps}` }, async (place) => {
      const typed = (words: string) => offered(place, `wf run deploy.yaml ${words}`);
      expect(await typed('-p ENV=')).toEqual(['none', 'ENV=dev', 'ENV=staging eu']);
      expect(await typed('-p ENV=st')).toEqual(['none', 'ENV=staging eu']);
      expect(await typed('--param=ENV=d')).toEqual(['none', '--param=ENV=dev']);
      expect(await typed('-p FAST=')).toEqual(['none', 'FAST=true', 'FAST=false']);
      expect(await typed('-p OTHER=')).toEqual(['none', 'OTHER=plain']);
      for (const name of ['DAY', 'KEY', 'UNKNOWN']) expect(await typed(`-p ${name}=`)).toEqual(['none']);
      expect(await typed('--only ')).toEqual(['none', ...(await typed('--skip ')).slice(1)]);
      expect((await typed('--only ')).length).toBeGreaterThan(1);
      const { stdout } = await place.wf('complete', '--line', 'wf run -p ENV=', '--word', '=');
      expect(stdout).toBe('none\ndev\nstaging eu\tdefault\n');
    });
  });

  it('describes each value', () =>
    withPlace({}, async ({ wf }) => {
      const { stdout } = await wf('complete', '--', 'hist');
      expect(stdout).toBe('none\nhistory\tlist past runs, newest first\n');
    }));

  it('leaves files to the shell', () =>
    withPlace({}, async (place) => {
      expect(await offered(place, 'wf validate one.yaml tw')).toEqual(['yaml']);
      expect(await offered(place, 'wf run --dags ')).toEqual(['directories']);
      expect(await offered(place, 'wf run --params-file=')).toEqual(['files']);
    }));

  it('completes names of the workflows directory, with groups where names are ambiguous', () =>
    withPlace({}, async (place) => {
      for (const name of ['dags/ops', 'dags/web', 'mine'])
        mkdirSync(join(place.cwd, 'home', name), { recursive: true });
      for (const name of ['dags/nightly', 'dags/ops/deploy', 'dags/web/deploy', 'mine/own']) {
        place.write(`home/${name}.yaml`, steps);
      }
      expect(await offered(place, 'wf run ')).toEqual(['yaml', 'nightly', 'ops/deploy', 'web/deploy']);
      expect(await offered(place, 'wf run --dags home/mine ')).toEqual(['yaml', 'own']);
    }));

  it('completes runs and the steps of the chosen run', () =>
    withPlace({ 'etl.yaml': steps, 'other.yaml': 'steps: [{ name: one, command: "true" }]' }, async (place) => {
      await place.wf('run', 'etl.yaml');
      await place.wf('run', 'other.yaml', '--run-id', 'given-id');
      const { runId } = await place.json('status', 'etl');
      const short = runId.slice(0, 13);

      const all = ['yaml', '@latest', '@failed', 'other', 'etl', 'given-id', short];
      expect([...(await offered(place, 'wf logs '))].sort()).toEqual(all.sort());
      expect(await offered(place, `wf report ${short.slice(0, 9)}`)).toEqual(['yaml', short]);
      expect(await offered(place, 'wf logs etl ')).toEqual(['none', 'fetch rows', 'load: all']);
      expect(await offered(place, 'wf logs @latest ')).toEqual(['none', 'one']);
      expect(await offered(place, 'wf logs -f @failed "fe')).toEqual(['none', 'fetch rows']);
      expect(await offered(place, `wf retry ${short} --step l`)).toEqual(['none', 'load: all']);
      expect(await offered(place, 'wf logs etl load: --')).toContain('--attempt');
    }));

  it('returns the part after the position where bash splits words', () =>
    withPlace({ 'etl.yaml': steps }, async (place) => {
      await place.wf('run', 'etl.yaml');
      expect(await offered(place, 'wf graph --format=d', 'd')).toEqual(['none', 'dot']);
      expect(await offered(place, 'wf graph --format=', '=')).toEqual(['none', 'ascii', 'mermaid', 'dot', 'json']);
      expect(await offered(place, 'wf logs etl load:\\ a', '\\ a')).toEqual(['none', ' all']);
      expect(await offered(place, 'wf status @l', 'l')).toEqual(['yaml', '@latest']);
    }));

  it('returns nothing, and exit code 1, where nothing is known', () =>
    withPlace({}, async ({ cwd, wf, write }) => {
      mkdirSync(join(cwd, 'home'));
      const nothing = { code: 1, stdout: 'none\n', stderr: '' };
      for (const line of [
        'wf nope ',
        'wf version more ',
        'wf run a.yaml -- A',
        'wf logs no-such-run ',
        'wf run --run-id ',
      ]) {
        expect([line, await wf('complete', '--line', line)]).toEqual([line, { ...nothing, signal: null }]);
      }
      write('home/config.yaml', 'no: [such');
      expect(await wf('complete', '--line', 'wf logs x ')).toMatchObject(nothing);
    }));
});
