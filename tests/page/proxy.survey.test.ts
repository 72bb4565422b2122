import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { get } from 'node:https';
import { join, resolve } from 'node:path';
import { expect, it } from 'vitest';
import { blocksOf } from '../docs/guide-blocks.ts';
import { ownDirectory } from '../docs/served.ts';
import { browserPath } from '../support/browser.ts';
import { closedPort } from '../support/http-server.ts';
import { startNginx } from '../support/proxy.ts';
import { describeWithAll, isInstalled } from '../support/require.ts';
import { accessibilityProblems, withPage } from './visits.ts';

const guide = readFileSync(resolve(import.meta.dirname, '../../docs/guide/reverse-proxy.md'), 'utf8');
const site = blocksOf(guide).find(({ file }) => file === 'wf.conf')?.text ?? '';
const programs = { chromium: browserPath !== null, nginx: isInstalled('nginx'), openssl: isInstalled('openssl') };

const files = {
  'ops/hello.yaml': 'params: { NAME: world }\nsteps:\n  - name: greet\n    command: echo hello $NAME\n',
  'token.txt': 'a-token-to-write',
};

/** Starts nginx with the configuration of the guide and a new certificate; returns its origin once it answers. */
async function nginxFor(daemonUrl: string): Promise<string> {
  const dir = ownDirectory();
  const [key, certificate] = [join(dir, 'key.pem'), join(dir, 'certificate.pem')];
  const made = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  const name = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  execFileSync('openssl', ['req', ...made, ...name, '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  const port = await closedPort();
  startNginx(
    dir,
    site
      .replace('listen 443', `listen 127.0.0.1:${port}`)
      .replace(/ssl_certificate .*;/, `ssl_certificate ${certificate};`)
      .replace(/ssl_certificate_key .*;/, `ssl_certificate_key ${key};`)
      .replace('127.0.0.1:8080', new URL(daemonUrl).host),
  );
  const origin = `https://127.0.0.1:${port}`;
  const ca = readFileSync(certificate);
  const statusOf = () =>
    new Promise((done) =>
      get(`${origin}/wf/health`, { ca }, (answer) => done(answer.resume().statusCode)).on('error', done),
    );
  await expect.poll(statusOf).toBe(200);
  return origin;
}

describeWithAll(programs, 'the page below a path behind a proxy with TLS', () => {
  it('logs in, follows a run, and keeps its cookie for this path and for TLS', { timeout: 60_000 }, async () => {
    const outside: string[] = [];
    await withPage(
      files,
      async ({ daemon, open }) => {
        const origin = await nginxFor(daemon.url);
        outside.push(origin);
        const page = await open('/', { ignoreHTTPSErrors: true });
        await page.goto(`${origin}/wf/#token=a-token-to-write`);
        await page.getByRole('link', { name: 'hello', exact: true }).waitFor();

        expect(page.url()).toBe(`${origin}/wf/`);
        const [cookie] = await page.context().cookies();
        expect(cookie).toMatchObject({
          name: 'wf_session',
          secure: true,
          httpOnly: true,
          sameSite: 'Strict',
          path: '/wf/',
        });
        await page.getByRole('link', { name: 'Start hello' }).click();
        await page.getByLabel('NAME', { exact: true }).fill('proxy');
        await page.getByRole('button', { name: 'Start', exact: true }).click();
        await page.getByText('Succeeded after').waitFor();
        await page.getByText('hello proxy').first().waitFor();
        expect(page.url()).toContain(`${origin}/wf/runs/`);
        expect(await accessibilityProblems(page)).toEqual([]);
        await page.reload();
        await page.locator('.run-header').waitFor();
        await page.getByRole('button', { name: 'Log out' }).click();
        await page.getByRole('heading', { name: 'Log in' }).waitFor();
        expect(page.url()).toBe(`${origin}/wf/login`);
        expect(await page.context().cookies()).toEqual([]);
      },
      {
        options: ['--base-path', '/wf', '--trusted-proxies', '127.0.0.1', '--token-file', 'token.txt'],
        outside,
        // A request that is under way at the logout is refused.
        expected: [/status of 401/],
      },
    );
  });
});
