import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { RunSummary } from '#core/summary/summary.ts';
import { hasDocker, startDocker, type TestDocker } from '../support/docker.ts';
import { httpServer, type TestServer } from '../support/http-server.ts';
import { describeWithAll, isInstalled } from '../support/require.ts';
import { runService } from '../support/services.ts';
import { smtpServer } from '../support/smtp-server.ts';
import { stableOutput } from '../support/stable-output.ts';
import { wf } from '../support/wf.ts';
import { temporaryDirectory } from './attempt.ts';
import { isSshThere, type SshServer, startSshd } from './ssh/sshd.ts';

const golden = resolve(import.meta.dirname, '../../fixtures/services/everything/output.txt');
const token = 'token-4711';
const runId = 'release-1';

const services = {
  docker: hasDocker,
  terraform: isInstalled('terraform'),
  ansible: isInstalled('ansible-playbook'),
  ssh: isSshThere,
};

describeWithAll(services, 'a workflow with every kind of step', () => {
  let docker: TestDocker;
  let sshd: SshServer;
  beforeAll(async () => {
    [docker, sshd] = await Promise.all([startDocker(), startSshd()]);
  });
  afterAll(() => Promise.all([docker?.stop(), sshd?.close()]));

  /** Runs the workflow against real services; `limits` is the answer of the API to a query for them. */
  async function release(limits: { readonly status: number; readonly body: string }) {
    const api = await httpServer(({ method }, response) => {
      if (method === 'GET') response.writeHead(limits.status).end(limits.body);
      else response.writeHead(method === 'PUT' ? 201 : 204).end();
    });
    const mails = await smtpServer();
    const given = {
      ...{ API: api.url, IMAGE: 'wf-test:1', MAIL_PORT: mails.port },
      ...{ SSH_PORT: sshd.port, SSH_USER: sshd.user, SSH_KEY: sshd.key },
    };
    const params = Object.entries(given).flatMap(([name, value]) => ['-p', `${name}=${value}`]);
    const env = {
      ...{ PATH: sshd.path, DOCKER_HOST: docker.host, SHOP_TOKEN: token },
      ...{ TF_CLI_CONFIG_FILE: '/dev/null', CHECKPOINT_DISABLE: '1', ANSIBLE_REMOTE_TEMP: temporaryDirectory() },
    };
    const { ended, dir } = await runService('everything', env, ['--run-id', runId, ...params]);
    const home = join(dir, 'wf');
    const { stdout } = await wf(['status', runId, '--json'], { env: { WF_HOME: home } });
    const printed = withNames(given, shortened(stableOutput(ended, { home, folder: dir })));
    return { printed, dir, calls: calls(api), mails: mails.received, summary: JSON.parse(stdout) as RunSummary };
  }

  test('runs all steps, passes on their results, and reports them', { timeout: 60_000 }, async () => {
    const limits = { status: 200, body: `{"replicas": 5, "most": 2, "seen": "${token}"}` };
    const { printed, dir, calls, mails, summary } = await release(limits);
    if (process.env['WF_UPDATE_GOLDENS'] === '1') writeFileSync(golden, printed);
    expect(printed).toBe(readFileSync(golden, 'utf8'));
    const seen = '{"address": "shop-2.example.com", "version": "1.4.2"}';
    expect(results(summary)).toEqual({
      version: 'succeeded: 1.4.2',
      changes: 'succeeded: a quieter till, fewer doors',
      build: 'succeeded: shop-1.4.2-4.tar',
      limits: 'succeeded: {"replicas": 5, "most": 2, "seen": "***"}',
      replicas: 'succeeded: 2',
      infrastructure: 'succeeded',
      address: 'succeeded: shop-2.example.com',
      settings: 'succeeded',
      look: `succeeded: ${seen}`,
      'smoke test': expect.stringMatching(/^succeeded: .*"outputs":\{"ANSWER":"shop-2.example.com is open"\}\}$/),
      verdict: 'succeeded: shop-2.example.com is open',
      announce: 'succeeded',
      'tell the team': 'succeeded',
      'handlerOn.success': 'succeeded',
      'handlerOn.exit': 'succeeded',
    });
    const body = {
      version: '1.4.2',
      changes: 'a quieter till, fewer doors',
      seen,
      verdict: 'shop-2.example.com is open',
    };
    expect(calls).toEqual([
      ['GET /limits?service=shop', `Bearer ${token}`, null],
      ['PUT /releases', `Bearer ${token}`, body],
      ['POST /hooks/release', undefined, { status: 'succeeded', run: runId, address: 'shop-2.example.com' }],
    ]);
    expect(mails.map(({ to, headers }) => [to, headers['subject']])).toEqual([
      [['team@example.com', 'jo@example.com'], 'Shop 1.4.2 is at shop-2.example.com'],
      [['ops@example.com'], 'Release 1.4.2 has ended: succeeded'],
      [['team@example.com'], '[shop] release succeeded'],
    ]);
    expect(mails[0]?.raw).toContain('filename=settings.json');
    expect(mails[1]?.raw).toContain('Made shop-1.4.2-4.tar for 2 replicas.');
    expect(readFileSync(join(dir, 'settings.json'), 'utf8')).toBe(`${seen}\n`);
    expect(readFileSync(join(dir, 'infra/terraform.tfstate'), 'utf8')).toContain('"shop-1.4.2-4.tar times 2"');
    expect(await docker.containersOf(runId)).toEqual([]);
  });

  test('that fails reports the failed step, and runs no later ones', { timeout: 60_000 }, async () => {
    const { printed, dir, calls, mails, summary } = await release({ status: 503, body: 'closed' });
    const failure = 'GET <API>/limits?service=shop: 503 Service Unavailable';
    expect(printed).toContain(`FAIL   ${failure} after 0.0s\n`);
    expect(summary.status).toBe('failed');
    const notRun = Object.entries(results(summary)).filter(([, text]) => text === 'upstream_failed: "limits" failed');
    expect(notRun.map(([name]) => name)).toEqual([
      ...['replicas', 'infrastructure', 'address', 'settings', 'look', 'smoke test', 'verdict', 'announce'],
      'tell the team',
    ]);
    expect(results(summary)).toMatchObject({
      build: 'succeeded: shop-1.4.2-4.tar',
      'handlerOn.failure': 'succeeded',
      'handlerOn.exit': 'succeeded',
    });
    const told = {
      status: 'failed',
      run: runId,
      step: 'limits',
      error: expect.stringMatching(/: 503 Service Unavailable$/),
    };
    expect(calls).toEqual([
      ['GET /limits?service=shop', `Bearer ${token}`, null],
      ['POST /hooks/release', undefined, told],
    ]);
    expect(mails.map(({ to, headers }) => [to, headers['subject']])).toEqual([
      [['ops@example.com'], 'Release 1.4.2 has ended: failed'],
      [['ops@example.com'], '[shop] trouble: release failed'],
    ]);
    expect(mails[0]?.raw).toContain('Made shop-1.4.2-4.tar for no replicas.');
    expect(mails[1]?.raw).toMatch(/\n {2}closed\r?\n {2}log: wf logs release-1 limits\r?\n/);
    expect(mails[1]?.raw).toMatch(/filename=.?limits/);
    expect(existsSync(join(dir, 'settings.json'))).toBe(false);
  });
});

type Values = Readonly<Record<string, string | number>>;

/** Replaces each value of this run by the name of its parameter; the API's address also as a bare URL. */
function withNames(given: Values & { readonly API: string }, text: string): string {
  const named = Object.entries(given).reduce((rest, [name, value]) => {
    return rest.replaceAll(`${name}=${value}`, `${name}=<${name}>`);
  }, text);
  return named.replaceAll(given.API, '<API>');
}

/**
 * Drops the details of Terraform's and Ansible's own output, and what differs between runs: dates, message ids, and a
 * line on standard error whose position varies.
 */
function shortened(text: string): string {
  return text
    .replace(/^\S+ \[(?:infrastructure|settings)\] +\|(?! (?:Apply complete|here {2})).*\n/gm, '')
    .replace(/^.* of workflow "smoke"\n/gm, '')
    .replace(/(?<=\| Date: ).*/g, '<date>')
    .replace(/(?<=\| Message-ID: <)[^@]+/g, '<message id>');
}

/** The status and outputs of each step. */
function results({ steps, handlers }: RunSummary) {
  const texts = [...steps, ...handlers].map(({ name, status, error, outputs }) => {
    return [name, [status, ...(error === null ? [] : [error]), ...Object.values(outputs)].join(': ')];
  });
  return Object.fromEntries(texts);
}

/** The requests to the API: method, login and JSON. */
function calls({ received }: TestServer) {
  return received.map(({ method, url, headers, body }) => {
    return [`${method} ${url}`, headers.authorization, body === '' ? null : (JSON.parse(body) as unknown)];
  });
}
