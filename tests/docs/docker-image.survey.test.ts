import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { hasDocker, startDocker, type TestDocker } from '../support/docker.ts';
import { makeNodeArchive } from '../support/node-image.ts';
import { describeWith, isInstalled } from '../support/require.ts';

const root = resolve(import.meta.dirname, '../..');
const workflows = {
  'hello.yaml': 'params: NAME=world\nsteps:\n  - name: greet\n    command: echo "hello $NAME"\n',
  'leaves.yaml': "steps:\n  - name: leave\n    command: sh -c 'sleep 1000 & echo left'\n",
  'slow.yaml': 'steps:\n  - name: wait\n    command: sleep 1000\nhandlerOn:\n  cancel:\n    command: echo bye\n',
};

describeWith('docker', hasDocker && isInstalled('docker') && isInstalled('tini'), 'the docker image', () => {
  let dir = '';
  let daemon: TestDocker;

  // The storage that works everywhere copies all of Node for each line of the Dockerfile.
  beforeAll(async () => {
    dir = mkdtempSync(join(tmpdir(), 'wf-deploy-'));
    daemon = await startDocker();
    const build = join(dir, 'build');
    mkdirSync(build);
    execFileSync('npm', ['pack', '--ignore-scripts', '--pack-destination', build], { cwd: root, stdio: 'ignore' });
    cpSync(join(root, 'docs/deploy/Dockerfile'), join(build, 'Dockerfile'));
    await docker('import', makeNodeArchive(dir), 'wf-test-node:1');
    await docker('build', '--quiet', '--build-arg', 'BASE=wf-test-node:1', '--tag', 'wf-test-image:1', build);
    mkdirSync(join(dir, 'workflows'));
    for (const [name, text] of Object.entries(workflows)) writeFileSync(join(dir, 'workflows', name), text);
  }, 120_000);

  afterAll(async () => {
    await daemon.stop();
    rmSync(dir, { recursive: true, force: true });
  });

  /** Answers what a docker command prints, without blocking the tests. Rejects when it fails. */
  async function docker(...args: readonly string[]): Promise<string> {
    const env = { ...process.env, DOCKER_HOST: daemon.host, DOCKER_BUILDKIT: '0' };
    return (await promisify(execFile)('docker', [...args], { env })).stdout.trim();
  }

  test('does not start without a login', () => {
    const env = { ...process.env, DOCKER_HOST: daemon.host };
    const args = ['run', '--rm', '--network=none', 'wf-test-image:1'];
    const { status, stderr } = spawnSync('docker', args, { env, encoding: 'utf8' });
    expect([status, stderr]).toEqual([2, expect.stringContaining('will not listen on "0.0.0.0" without a login')]);
  });

  test('serves, runs, cleans up and stops', { timeout: 60_000 }, async () => {
    const options = ['--network=none', '--hostname=wf', '--health-interval=1s', '-e', 'WF_TOKEN=s3cret-of-16-chars'];
    const volume = ['-v', `${join(dir, 'workflows')}:/workflows:ro`];
    const id = await docker('run', '--detach', ...options, ...volume, 'wf-test-image:1');
    try {
      const inside = (...command: readonly string[]) => docker('exec', id, ...command);
      const fetched = (path: string, request: object) =>
        inside(
          'node',
          '-p',
          `fetch("http://127.0.0.1:8080${path}", ${JSON.stringify(request)}).then(async (answer) => console.log(answer.status, await answer.text())), ""`,
        );
      const login = { Authorization: 'Bearer s3cret-of-16-chars', 'Content-Type': 'application/x-www-form-urlencoded' };
      const start = (name: string) =>
        fetched(`/api/v1/dags/${name}`, { method: 'POST', headers: login, body: `action=start&request-id=${name}-1` });
      const status = async (run: string) => {
        const { status: word, trigger } = JSON.parse(await inside('wf', 'status', run, '--json')) as RunSummary;
        return [word, trigger];
      };

      await expect.poll(() => docker('logs', id)).toContain('wf serves http://localhost:8080, workflows in /workflows');
      expect(await fetched('/health', {})).toMatch(/^200 \{"status":"ok"/);
      expect(await fetched('/api/v1/dags', {})).toMatch(/^401 /);
      expect(await inside('id', '-u')).toBe('1000');
      expect(await docker('logs', id)).not.toContain('process 1');

      expect(await start('hello')).toBe('200 {"RequestId":"hello-1"}');
      await expect.poll(() => status('hello-1')).toEqual(['succeeded', 'api']);
      expect(await inside('wf', 'logs', 'hello-1', 'greet')).toBe('hello world');

      await start('leaves');
      await expect.poll(() => status('leaves-1')).toEqual(['succeeded', 'api']);
      await expect.poll(() => inside('ps', '-o', 'stat,comm')).not.toMatch(/sleep/);

      await start('slow');
      await expect.poll(() => status('slow-1')).toEqual(['running', 'api']);
      await docker('stop', '--time', '30', id);
      expect(await docker('inspect', '--format', '{{.State.ExitCode}}', id)).toBe('0');
      await docker('start', id);
      expect(await status('slow-1')).toEqual(['canceled', 'api']);
      expect(await inside('wf', 'logs', 'slow-1')).toContain('bye');
      await expect.poll(() => docker('inspect', '--format', '{{.State.Health.Status}}', id)).toBe('healthy');
    } finally {
      await docker('rm', '--force', '--volumes', id);
    }
  });
});
