import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { certificateFile, closedPort } from '../support/http-server.ts';
import { startNginx, startProxy } from '../support/proxy.ts';
import { describeWith, isInstalled } from '../support/require.ts';
import { blocksOf } from './guide-blocks.ts';
import { ownDirectory, type Served, serveAs } from './served.ts';

const blocks = blocksOf(readFileSync(resolve(import.meta.dirname, '../../docs/guide/reverse-proxy.md'), 'utf8'));
const fileOf = (name: string) => blocks.find(({ file }) => file === name)?.text ?? '';
const keyFile = join(certificateFile, '../key.pem');

describeWith('nginx', isInstalled('nginx'), 'nginx as in the guide', () => {
  test('serves the daemon under a path', { timeout: 20_000 }, async () => {
    const dir = ownDirectory();
    const daemon = await daemonBehindProxy(dir);
    const port = await closedPort();
    const site = fileOf('wf.conf')
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificateFile};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${keyFile};`)
      .replace('127.0.0.1:8080', `127.0.0.1:${daemon.port}`);
    startNginx(dir, site);
    await answersAsPromised(port, dir);
  });
});

describeWith('caddy', isInstalled('caddy'), 'caddy as in the guide', () => {
  test('serves the daemon under a path', { timeout: 20_000 }, async () => {
    const dir = ownDirectory();
    const daemon = await daemonBehindProxy(dir);
    const port = await closedPort();
    const site = fileOf('Caddyfile')
      .replace('ops.example.com {', `https://ops.example.com:${port} {\n\ttls ${certificateFile} ${keyFile}`)
      .replace('127.0.0.1:8080', `127.0.0.1:${daemon.port}`);
    writeFileSync(join(dir, 'Caddyfile'), `{\n\tadmin off\n\tauto_https disable_redirects\n}\n${site}`);
    startProxy('caddy', ['run', '--config', join(dir, 'Caddyfile'), '--adapter', 'caddyfile'], dir);
    await answersAsPromised(port, dir);
  });
});

/** With the options of the page. */
async function daemonBehindProxy(dir: string): Promise<Served> {
  const [, options = ''] = /^wf serve (--base-path .*) --token-file/m.exec(blocks[0]?.text ?? '') ?? [];
  mkdirSync(join(dir, 'home/dags/ops'), { recursive: true });
  writeFileSync(
    join(dir, 'home/dags/ops/nightly.yaml'),
    'steps:\n  - name: wait\n    command: sh -c "until test -e go; do sleep 0.05; done"\n',
  );
  writeFileSync(join(dir, 'token'), 's3cret\n');
  const args = [...options.split(' '), '--token-file', join(dir, 'token')];
  return serveAs([...args, '--on-shutdown', 'stop'], { env: { WF_HOME: join(dir, 'home') } });
}

/** Everything that the page says of a proxy. */
async function answersAsPromised(port: number, dir: string): Promise<void> {
  const origin = `https://ops.example.com:${port}`;
  writeFileSync(join(dir, 'large'), 'x'.repeat(1024 * 1024 + 1));
  const curlArguments = (path: string, ...more: readonly string[]) => {
    const resolved = ['--insecure', '--resolve', `ops.example.com:${port}:127.0.0.1`];
    return ['-sS', '-m', '10', '-w', '\n%{http_version} %{http_code}', ...resolved, ...more, `${origin}${path}`];
  };
  const curl = async (path: string, ...more: readonly string[]) =>
    (await promisify(execFile)('curl', curlArguments(path, ...more))).stdout;
  const login = ['-H', 'Authorization: Bearer s3cret'];
  const nightly = '/wf/api/v1/dags/ops%2Fnightly';
  await expect.poll(() => curl('/wf/health').catch(String)).toMatch(/2 200$/);
  expect(await curl('/wf/api/v1/dags')).toMatch(/ 401$/);
  expect(await curl('/wf/api/v1/dags', ...login)).toMatch(/"nightly.yaml"[\s\S]* 200$/);
  expect(await curl(nightly, ...login)).toMatch(/"Group":"ops"[\s\S]* 200$/);
  expect(await curl('/wf/api/v1/tags', ...login, '-H', `Origin: ${origin}`)).toMatch(/ 200$/);
  expect(await curl('/wf/api/v1/tags', ...login, '-H', 'Origin: https://example.com')).toMatch(/ 403$/);
  const large = ['-H', 'Content-Type: application/json', '--data-binary', `@${join(dir, 'large')}`];
  expect(await curl(nightly, ...login, ...large)).toMatch(/larger than 1048576 bytes[\s\S]* 413$/);
  expect(await curl(nightly, ...login, '-d', 'action=start', '-d', 'request-id=one')).toMatch(/"one"[\s\S]* 200$/);
  const stream = curlArguments('/wf/api/v2/runs/one/events', '-N', ...login);
  await isToldAtOnce(spawn('curl', stream), () => writeFileSync(join(dir, 'home/dags/ops/go'), ''));
}

/** Events arrive while the run, which waits for `goOn`, is still running. */
async function isToldAtOnce(stream: ChildProcess, goOn: () => void): Promise<void> {
  let told = '';
  let hasGoneOn = false;
  stream.stdout?.setEncoding('utf8').on('data', (text: string) => {
    told += text;
    if (hasGoneOn || !told.includes('event: step.started')) return;
    hasGoneOn = true;
    expect(told).not.toContain('event: run.finished');
    goOn();
  });
  await once(stream, 'close');
  expect(told).toMatch(/event: run.finished[\s\S]*event: end\n[\s\S]* 200$/);
}
