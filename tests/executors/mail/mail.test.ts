import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { JsonObject, SmtpSettings } from '#core/workflow.ts';
import { executor } from '#executors/mail/mail.ts';
import { smtpServer, type TestSmtpServer } from '../../support/smtp-server.ts';
import { workflow } from '../../support/workflow.ts';
import { failed, testAttempt } from '../attempt.ts';

type Settings = Parameters<typeof testAttempt>[0];

const sent = { status: 'succeeded', exitCode: null, outputs: {} };
const plain = { to: 'ops@example.org', from: 'ci@example.org', subject: 'Done', message: 'All done.' };

function smtpOf({ port }: TestSmtpServer, more: Partial<SmtpSettings> = {}): SmtpSettings {
  return { host: '127.0.0.1', port: String(port), username: null, password: null, ...more };
}

/** An attempt of a workflow with this mail server. */
function mailAttempt(smtp: SmtpSettings | null, settings: Settings = {}) {
  const world = testAttempt(settings);
  return { ...world, attempt: { ...world.attempt, workflow: workflow({ smtp }) } };
}

async function mail(smtp: SmtpSettings | null, config: JsonObject, settings: Settings = {}) {
  const world = mailAttempt(smtp, settings);
  const outcome = await executor.run(config, world.attempt);
  return { outcome, stdout: world.stdout(), stderr: world.stderr(), started: world.started };
}

test('a mail is sent, and its recipients are printed', async () => {
  const server = await smtpServer();
  const { outcome, stdout, stderr, started } = await mail(smtpOf(server), plain);
  expect({ outcome, stderr, started }).toEqual({ outcome: sent, stderr: '', started: [null] });
  const [received] = server.received;
  expect(received).toMatchObject({
    from: 'ci@example.org',
    to: ['ops@example.org'],
    headers: { from: 'ci@example.org', subject: 'Done', 'content-type': 'text/plain; charset=utf-8' },
  });
  expect(received?.raw).toMatch(/\r\n\r\nAll done\.\r\n$/);
  expect(stdout).toBe(`Subject: Done\nMessage-ID: ${received?.headers['message-id']}\nAccepted: ops@example.org\n`);
});

test('variables are replaced everywhere', async () => {
  const server = await smtpServer({ login: true });
  const variables = {
    HOST: '127.0.0.1',
    PORT: String(server.port),
    USER_NAME: 'me',
    PASSWORD: 'secret',
    TEAM: 'a@example.org, b@example.org',
    WHO: 'Jö',
    FILE: 'r',
  };
  const smtp = { host: '$HOST', port: '${PORT}', username: '$USER_NAME', password: '${PASSWORD}' };
  const config = {
    to: ['$TEAM', '$WHO <c@example.org>'],
    cc: '$TEAM',
    bcc: ['d-$FILE@example.org'],
    from: '$WHO <ci@example.org>',
    subject: 'For $WHO',
    message: 'Dear $WHO,',
    attachments: '$FILE.csv',
  };
  const world = mailAttempt(smtp, { variables });
  writeFileSync(join(world.dir, 'r.csv'), 'x');
  expect(await executor.run(config, world.attempt)).toEqual(sent);
  expect(server.received).toMatchObject([
    {
      from: 'ci@example.org',
      // A recipient listed twice gets one mail.
      to: ['a@example.org', 'b@example.org', 'c@example.org', 'd-r@example.org'],
      headers: {
        from: '=?UTF-8?B?SsO2?= <ci@example.org>',
        to: 'a@example.org, b@example.org, =?UTF-8?B?SsO2?= <c@example.org>',
        subject: '=?UTF-8?Q?For_J=C3=B6?=',
      },
      user: 'me',
    },
  ]);
  expect(server.received[0]?.raw).toContain('Dear J=C3=B6,');
  expect(server.received[0]?.raw).toContain('filename=r.csv');
});

test('an HTML message contains a text version', async () => {
  const server = await smtpServer();
  await mail(smtpOf(server), { ...plain, message: '<html>\n<body><p>All <b>done</b>.</p></body></html>\n' });
  const [received] = server.received;
  expect(received?.headers['content-type']).toMatch(/^multipart\/alternative/);
  expect(received?.raw).toMatch(/Content-Type: text\/plain; charset=utf-8\r\n[^<]*\r\nAll done\.\r\n/);
  expect(received?.raw).toContain('<html>\r\n<body><p>All <b>done</b>.</p></body></html>');
});

test('files are attached unchanged, from the directory of the step', async () => {
  const server = await smtpServer();
  const world = mailAttempt(smtpOf(server));
  mkdirSync(join(world.dir, 'out'));
  writeFileSync(join(world.dir, 'out/räport.bin'), Buffer.from([0, 255, 10, 13]));
  const attachments = ['out/räport.bin', join(world.dir, 'out/räport.bin')];
  expect(await executor.run({ ...plain, attachments }, world.attempt)).toEqual(sent);
  expect(server.received[0]?.raw.match(/\r\n\r\nAP8KDQ==\r\n/g)).toHaveLength(2);
  expect(server.received[0]?.raw).toContain("filename*0*=utf-8''r%C3%A4port.bin");
});

test('the login is the sender of a mail without one', async () => {
  const server = await smtpServer({ login: true });
  const smtp = smtpOf(server, { username: 'me@example.org', password: 'secret' });
  expect((await mail(smtp, { to: 'ops@example.org' })).outcome).toEqual(sent);
  expect(server.received[0]).toMatchObject({ from: 'me@example.org', user: 'me@example.org' });
});

test('a rejected recipient is reported, and does not fail the step', async () => {
  const server = await smtpServer();
  const { outcome, stdout, stderr } = await mail(smtpOf(server), { ...plain, to: 'nobody@a.org, ops@example.org' });
  expect({ outcome, stderr }).toEqual({
    outcome: sent,
    stderr: 'not sent to nobody@a.org (550 no such user here)\n',
  });
  expect(stdout).toMatch(/\nAccepted: ops@example\.org\nRefused: nobody@a\.org \(550 no such user here\)\n$/);
});

describe('a mail is not sent', () => {
  test.each<[string, JsonObject, string]>([
    ['with a line break in its subject', { subject: 'a\nBcc: b@x.org' }, '"subject" contains a line break'],
    ['with a line break in an address', { to: 'a@x.org\r\nBcc: b@x.org' }, '"to" contains a line break'],
    ['with a line break in its sender', { from: '$EVIL' }, '"from" contains a line break'],
    ['to nobody', { to: '$NONE' }, 'the mail has no recipient: "to" is empty'],
    ['from nobody', { from: '' }, 'the mail has no sender: "from" is empty'],
    ['to an invalid address', { cc: 'a b' }, '"a b" in "cc" is not an address such as name@example.com'],
    ['without its attachment', { attachments: ['gone.csv'] }, 'the attachment "gone.csv" does not exist ('],
    ['with a directory', { attachments: '.' }, 'the attachment "." is not a file ('],
  ])('%s', async (_name, config, message) => {
    const server = await smtpServer();
    const { outcome, stdout } = await mail(
      smtpOf(server),
      { ...plain, ...config },
      { variables: { EVIL: 'a@x.org\nBcc: b@x.org' } },
    );
    expect(outcome).toEqual(failed('error', expect.stringContaining(message) as unknown as string));
    expect({ stdout, received: server.received }).toEqual({ stdout: '', received: [] });
  });

  test('without a server', async () => {
    const { outcome } = await mail(null, plain);
    expect(outcome).toEqual(failed('error', 'the workflow has no "smtp": give it the "host" of a mail server'));
  });

  test('with a login that the server rejects', async () => {
    const server = await smtpServer({ login: true });
    const { outcome } = await mail(smtpOf(server, { username: 'me', password: 'guess' }), plain);
    const message = `mail server 127.0.0.1:${server.port}: it rejected the login as "me": 535 Wrong username or password`;
    expect(outcome).toEqual(failed('error', message));
  });
});

describe('a stop', () => {
  test.each(['stop', 'kill'] as const)('ends a hanging mail at once (%s)', async (how) => {
    const server = await smtpServer({ hangs: 'RCPT' });
    const world = mailAttempt(smtpOf(server));
    const ended = executor.run(plain, world.attempt);
    await server.hanging;
    world[how]();
    expect(await ended).toEqual({ status: 'canceled', message: '', exitCode: null, signal: null });
    expect(world.stdout()).toBe('');
  });

  test('before the mail sends none', async () => {
    const server = await smtpServer();
    const world = mailAttempt(smtpOf(server));
    world.stop();
    expect((await executor.run(plain, world.attempt)).status).toBe('canceled');
    expect({ received: server.received, started: world.started }).toEqual({ received: [], started: [] });
  });
});
