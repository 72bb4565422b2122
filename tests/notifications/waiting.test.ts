import { expect, it } from 'vitest';
import { httpServer } from '../support/http-server.ts';
import { type Place, withPlace } from '../support/past-runs.ts';
import { smtpServer } from '../support/smtp-server.ts';
import { startWf } from '../support/wf.ts';

const gate = `env: [{KEY: s3cret-key}]
secrets: [KEY]
notify:
  - {to: slack, url: $BASE/slack, on: waiting}
  - {to: webhook, url: $BASE/webhook, on: [waiting, success]}
  - {to: webhook, url: $BASE/failure}
smtp: {host: 127.0.0.1, port: $SMTP_PORT}
mailOn: {wait: true}
infoMail: {from: ci@example.org, to: ops@example.org, prefix: "[Info]"}
steps:
  - {name: go, approval: {prompt: "Ship <it> with $KEY?", by: [ops]}}
`;

/** Starts the run with a web server and a mail server, and waits for the first mail. */
async function waiting({ cwd, env }: Place, ...args: readonly string[]) {
  const [web, mail] = [await httpServer((_, response) => response.end('ok')), await smtpServer()];
  const more = { WF_REPORTER: 'plain', BASE: web.url, SMTP_PORT: String(mail.port) };
  const run = startWf(['run', 'gate.yaml', '--run-id', 'r1', ...args], { cwd, env: { ...env, ...more } });
  return { run, web, mail };
}

it('a wait for approval is reported at once by mail and notifications, with commands and without secrets', async () => {
  await withPlace({ 'gate.yaml': gate }, async (place) => {
    const { run, web, mail } = await waiting(place);
    await expect.poll(() => [web.received.length, mail.received.length], { timeout: 10_000 }).toEqual([2, 1]);
    const slack = web.received.find(({ url }) => url === '/slack');
    expect(JSON.parse(slack?.body ?? '').text).toBe(
      '*gate waits for approval*\ngo waits for approval: Ship &lt;it&gt; with ***?\n```\nwf approve r1 go\nwf reject r1 go\n```',
    );
    const webhook = web.received.find(({ url }) => url === '/webhook');
    expect(JSON.parse(webhook?.body ?? '')).toMatchObject({
      event: 'waiting',
      run: { status: 'running', waitingFor: ['go'] },
    });
    const raw = mail.received[0]?.raw ?? '';
    expect(mail.received[0]?.headers).toMatchObject({ subject: '[Info] gate waits for approval' });
    expect(raw).toContain('Approve with: wf approve r1 go');
    expect(raw).toContain('Reject with: wf reject r1 go');
    expect(raw + web.received.map(({ body }) => body).join('\n')).not.toContain('s3cret-key');
    expect((await place.wf('stop', 'r1')).code).toBe(0);
    await run.ended;
    expect([web.received.length, mail.received.length]).toEqual([2, 1]);
  });
});

it('a wait that "--on-approval" answers is not reported', async () => {
  await withPlace({ 'gate.yaml': gate }, async (place) => {
    const { run, web, mail } = await waiting(place, '--on-approval', 'approve');
    expect((await run.ended).code).toBe(0);
    expect(web.received.map(({ url }) => url)).toEqual(['/webhook']);
    expect(mail.received).toEqual([]);
  });
});

it('a report of a wait that cannot be sent causes a warning', async () => {
  const unsent = gate
    .replace('$BASE/slack', 'http://127.0.0.1:1/')
    .replace('infoMail', 'waitMail')
    .replace('to: ops@example.org, ', '');
  await withPlace({ 'gate.yaml': unsent }, async (place) => {
    const { run } = await waiting(place);
    await expect
      .poll(async () => (await place.wf('status', 'r1')).stdout, { timeout: 15_000 })
      .toMatch(/the mail about this wait was not sent: "waitMail" has no "to"[\s\S]*the notification to slack/);
    expect((await place.wf('stop', 'r1')).code).toBe(0);
    await run.ended;
  });
});
