import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { temporaryDirectory } from '../../executors/attempt.ts';
import { certificate, type Received, smtpServer } from '../../support/smtp-server.ts';
import { startWf, wf } from '../../support/wf.ts';

// These tests run the built program with its bundled nodemailer.
beforeAll(() => {
  execFileSync(process.execPath, [resolve(import.meta.dirname, '../../../scripts/setup.mjs')]);
}, 120_000);

const settings = `
smtp: {host: 127.0.0.1, port: $SMTP_PORT, username: $SMTP_USER, password: $SMTP_PASSWORD}
errorMail: {from: ci@example.org, to: "$TEAM, boss@example.org", prefix: "[Error]"}
infoMail: {from: CI <ci@example.org>, to: ['"Ops, all" <ops@example.org>'], prefix: "[Info]", attachLogs: true}
`;

type Options = {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly mail?: string;
};

/** The command that runs a workflow with these settings, in a directory of its own. */
function deploy(yaml: string, port: number, { args = [], env = {}, mail = settings }: Options = {}) {
  const cwd = temporaryDirectory();
  writeFileSync(join(cwd, 'deploy.yaml'), `${mail}${yaml}`);
  const own = { WF_HOME: join(cwd, 'home'), WF_REPORTER: 'quiet', TEAM: 'team@example.org', SMTP_PORT: String(port) };
  return { args: ['run', ...args, 'deploy.yaml'], options: { cwd, env: { ...own, ...env } } };
}

function run(yaml: string, port: number, options: Options = {}) {
  const command = deploy(yaml, port, options);
  return wf(command.args, command.options);
}

/** The text of a mail as the reader sees it, without what differs between runs. */
function textOf({ raw }: Received): string {
  const part =
    /Content-Type: text\/plain; charset=utf-8\r\n(Content-Transfer-Encoding: .+)\r\n\r\n([\s\S]*?)\r\n--/.exec(raw);
  const body = part?.[1]?.endsWith('quoted-printable') ? unquoted(part[2] ?? '') : (part?.[2] ?? '');
  return body
    .replaceAll('\r\n', '\n')
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/g, '<time>')
    .replace(/\d+\.\d+s\b/g, '<took>')
    .replace(/[0-9a-f]{8}-[0-9a-f-]{27}|[0-9a-f]{8}-[0-9a-f]{4}(?= )/g, '<id>')
    .replace(/(File +).*/, '$1<file>')
    .replace(/(Host +).*/, '$1<host>');
}

function unquoted(text: string): string {
  const bytes = text
    .replace(/=\r\n/g, '')
    .replace(/=([0-9A-F]{2})/g, (_, hex) => String.fromCharCode(Number(`0x${hex}`)));
  return Buffer.from(bytes, 'latin1').toString();
}

/** The fields of a JSON line that tests check. */
type Line = { type: string; message?: string; warnings?: readonly string[] };

const failing = `
mailOn: {failure: true}
steps:
  - {name: lädt, script: "echo '<one>'; printf '\\\\033[31mtwo\\\\033[0m\\\\n' >&2; exit 3"}
  - {name: after, command: "true", depends: lädt}
handlerOn:
  exit: {command: "true"}
`;

describe('a run that fails', () => {
  test('mails the result of each step, as text and as HTML', async () => {
    const server = await smtpServer();
    const { code, stderr } = await run(failing, server.port);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(server.received).toMatchObject([
      {
        from: 'ci@example.org',
        to: ['team@example.org', 'boss@example.org'],
        headers: { subject: '[Error] deploy failed', 'auto-submitted': 'auto-generated' },
      },
    ]);
    const [received] = server.received;
    if (!received) throw new Error('no mail');
    expect(textOf(received)).toBe(
      `Workflow    deploy
Status      failed
Reason      step "lädt" failed: exit 3
Run         <id>
File        <file>
Started by  cli
Started     <time>
Finished    <time>
Took        <took>
Host        <host>

Step            Status     Started                  Finished                 Took  Error
lädt            failed     <time>  <time>  <took>  exit 3
after           not run                                                            "lädt" failed
handlerOn.exit  succeeded  <time>  <time>  <took>

lädt: exit 3
  <one>
  two
  log: wf logs <id> 'lädt'

Retry with: wf retry <id>
`,
    );
    const html = unquoted(received.raw);
    expect(html).toContain('<td>lädt</td><td>failed</td>');
    expect(html).toContain('<h3>lädt: exit 3</h3><pre>&#60;one&#62;\r\ntwo\r\nlog: wf logs ');
  });

  test('suggests a retry from the file if its secrets are not stored', async () => {
    const server = await smtpServer();
    const yaml =
      'secrets: [TOKEN]\nenv: [{TOKEN: hunter22}]\nmailOn: {failure: true}\nsteps: [{name: a, command: "false"}]\n';
    expect((await run(yaml, server.port)).code).toBe(1);
    const [received] = server.received;
    expect(received && textOf(received)).toContain('Retry with: wf retry <id> --file\n');
  });

  test('mails nothing if only a success is of interest', async () => {
    const server = await smtpServer();
    await run('mailOn: {success: true, cancel: true}\nsteps: [{name: a, command: "false"}]\n', server.port);
    expect(server.received).toEqual([]);
  });

  test('before its first step mails too', async () => {
    const server = await smtpServer();
    const yaml = 'mailOn: {failure: true}\nenv: [{A: "`exit 4`"}]\nsteps: [{name: a, command: "true"}]\n';
    expect((await run(yaml, server.port)).code).toBe(1);
    const [received] = server.received;
    expect(received && textOf(received)).toContain('Reason      env "A": `exit 4`: exit 4\n');
  });
});

describe('a run that succeeds', () => {
  const succeeding = `
mailOn: {success: true}
steps:
  - {name: a/b, command: echo out}
  - {name: big, command: "head -c 1100000 /dev/zero"}
`;

  test('mails through infoMail, with the logs on request', async () => {
    const server = await smtpServer();
    expect((await run(succeeding, server.port)).code).toBe(0);
    const [received] = server.received;
    expect(received).toMatchObject({
      to: ['ops@example.org'],
      headers: { from: 'CI <ci@example.org>', to: '"Ops, all" <ops@example.org>', subject: '[Info] deploy succeeded' },
    });
    expect(received?.raw.match(/filename=.*/g)).toEqual(['filename=a_b.log', 'filename=big.log']);
    expect(received?.raw).toContain(`\r\n\r\n${Buffer.from('out\n').toString('base64')}\r\n`);
    expect(received && textOf(received)).toMatch(/\nbig\.log contains the last 1048576 of 1100000 bytes\n$/);
  });

  test('mails them even if the run is not stored', async () => {
    const server = await smtpServer();
    expect((await run(succeeding, server.port, { args: ['--no-history'] })).code).toBe(0);
    expect(server.received[0]?.raw.match(/filename=.*/g)).toHaveLength(2);
  });

  test('attaches artifacts before logs, as many as fit, also of a run that is not stored', async () => {
    const mail = settings.replace('attachLogs: true', 'attachLogs: true, attach: ["$STEP/**", none]');
    const yaml = `
mailOn: {success: true}
env: [{STEP: build}]
steps:
  - {name: build, script: "mkdir -p d; echo 1 > d/one.txt; truncate -s 10485755 big; truncate -s 9 c", artifacts: [big, c, d]}
  - {name: other, script: "echo output | tee x", artifacts: x, depends: build}
`;
    for (const args of [[], ['--no-history']]) {
      const server = await smtpServer();
      expect((await run(yaml, server.port, { args, mail })).code).toBe(0);
      const [received] = server.received;
      expect(received?.raw.match(/filename=.*/g)).toEqual(['filename=big', 'filename=one.txt', 'filename=other.log']);
      expect(received?.raw).toContain(`\r\n\r\n${Buffer.from('1\n').toString('base64')}\r\n`);
      expect(received && textOf(received)).toContain(
        '\nthe artifact "build/c" is not attached: a message has at most 10 MiB of artifacts\n',
      );
      expect(received && textOf(received)).toContain('\nother.log contains the last 3 of 7 bytes\n');
    }
  });

  test('reports a partial success', async () => {
    const server = await smtpServer();
    const yaml = 'mailOn: {success: true}\nsteps: [{name: a, command: "false", continueOn: {failure: true}}]\n';
    await run(yaml, server.port);
    expect(server.received.map(({ headers }) => headers['subject'])).toEqual(['[Info] deploy partially succeeded']);
  });
});

describe('a run that is stopped', () => {
  const waiting = 'steps: [{name: a, script: "echo begun; sleep 60"}]\n';

  test.each([
    ['mailOn: {cancel: true}\n', ['[Error] deploy canceled']],
    ['mailOn: {failure: true, success: true}\n', []],
  ])('mails only on request: %j', async (mailOn, subjects) => {
    const server = await smtpServer();
    const command = deploy(mailOn + waiting, server.port, { env: { WF_REPORTER: 'plain' } });
    const running = startWf(command.args, command.options);
    await running.until('begun\n');
    running.kill('SIGTERM');
    expect((await running.ended).code).toBe(143);
    expect(server.received.map(({ headers }) => headers['subject'])).toEqual(subjects);
  });
});

test('a step and a handler mail when they settle', async () => {
  const server = await smtpServer();
  await run(
    `
steps:
  - {name: a, script: "echo why; exit 1", mailOn: {failure: true, success: true}, retryPolicy: {limit: 1, intervalSec: 0}}
  - {name: b, command: "true", depends: a, mailOn: {failure: true, success: true}}
handlerOn:
  failure: {command: "true", mailOn: {success: true}}
`,
    server.port,
  );
  const mails = server.received.map((received) => [received.headers['subject'], textOf(received)] as const);
  expect(mails.map(([subject]) => subject).sort()).toEqual([
    '[Error] deploy: step a failed',
    '[Info] deploy: step handlerOn.failure succeeded',
  ]);
  expect(mails.find(([subject]) => subject?.startsWith('[Error]'))?.[1]).toMatch(
    /\na: exit 1 after 2 attempts\n {2}why\n {2}log: wf logs <id> a\n$/,
  );
});

test('a secret is in no mail', async () => {
  const server = await smtpServer();
  await run(
    `
mailOn: {failure: true}
env: [{TOKEN: sesame-open}]
secrets: [TOKEN]
steps: [{name: a, script: "echo $TOKEN; exit 1", mailOn: {failure: true}}]
`,
    server.port,
  );
  expect(server.received.map((received) => textOf(received).includes('sesame'))).toEqual([false, false]);
});

test('shows no standard error of a step with a secret output', async () => {
  const server = await smtpServer();
  const script = 'session=session-$((4000 + 711)); echo $session; echo refused $session >&2; exit 1';
  await run(
    `
mailOn: {failure: true}
secrets: [SESSION]
steps: [{name: a, script: "${script}", output: SESSION, mailOn: {failure: true}}]
`,
    server.port,
  );
  const texts = server.received.map((received) => textOf(received));
  expect(texts.map((text) => [text.includes('***'), /refused|4711/.test(text)])).toEqual([
    [true, false],
    [true, false],
  ]);
});

describe('a mail that cannot be sent', () => {
  const warning = /warning: the mail about this failure was not sent: (.*)\n/;

  test.each([
    ['to an unreachable server', {}, 'mail server 127.0.0.1:1: connection refused'],
    ['to nobody', { TEAM: 'a b' }, '"a b" in "errorMail.to" is not an address such as name@example.com'],
    ['with half a login', { SMTP_USER: 'me' }, '"smtp.username" is given but "smtp.password" is empty'],
  ])('%s is reported, and changes no outcome', async (_name, env, why) => {
    const { code, stdout } = await run(failing, 1, { env });
    expect({ code, why: warning.exec(stdout)?.[1] }).toEqual({ code: 1, why });
  });

  test('is in the journal and in the JSON of the run, after its end', async () => {
    const { stdout } = await run(failing, 1, { env: { WF_REPORTER: 'json' } });
    const lines = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    expect(lines.slice(-3).map(({ type }) => type)).toEqual(['run.finished', 'run.warned', 'run.summary']);
    const message = 'the mail about this failure was not sent: mail server 127.0.0.1:1: connection refused';
    expect(lines.at(-2)?.message).toBe(message);
    expect(lines.at(-1)?.warnings).toEqual([message]);
  });

  test('to some recipients is reported', async () => {
    const server = await smtpServer();
    const { stdout } = await run(failing, server.port, { env: { TEAM: 'nobody@example.org' } });
    expect(stdout).toContain('warning: the mail did not reach nobody@example.org (550 no such user here)\n');
  });

  test('because of a missing setting is reported', async () => {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'w.yaml'), 'mailOn: {failure: true}\nsteps: [{name: a, command: "false"}]\n');
    const env = { WF_HOME: join(cwd, 'home'), WF_REPORTER: 'quiet' };
    const { code, stdout, stderr } = await wf(['run', 'w.yaml'], { cwd, env });
    expect(code).toBe(1);
    expect(stderr).toContain('warning: this mail cannot be sent: "smtp" is missing');
    expect(warning.exec(stdout)?.[1]).toBe('the workflow has no "smtp": give it the "host" of a mail server');
  });

  test('because its server hangs is abandoned with the next signal', async () => {
    const server = await smtpServer({ hangs: 'RCPT' });
    const command = deploy(failing, server.port);
    const running = startWf(command.args, command.options);
    await server.hanging;
    running.kill('SIGINT');
    const { code, stdout } = await running.ended;
    expect({ code, why: warning.exec(stdout)?.[1] }).toEqual({ code: 1, why: 'stopped by SIGINT' });
  });
});

describe('a certificate', () => {
  const yaml = 'steps: [{name: a, executor: {type: mail, config: {to: ops@example.org, from: ci@example.org}}}]\n';
  // A spelling of this machine that counts as another host.
  const smtp = (port: number) => `smtp: {host: "127.1", port: ${port}, username: me, password: secret}\n`;

  async function send(port: number, env: Readonly<Record<string, string>>) {
    const cwd = temporaryDirectory();
    writeFileSync(join(cwd, 'w.yaml'), smtp(port) + yaml);
    return wf(['run', 'w.yaml'], { cwd, env: { WF_HOME: join(cwd, 'home'), WF_REPORTER: 'quiet', ...env } });
  }

  test('of another host is rejected even if its authority is trusted', async () => {
    const server = await smtpServer({ login: true });
    const { code, stdout } = await send(server.port, { NODE_EXTRA_CA_CERTS: certificate });
    expect(code).toBe(1);
    expect(stdout).toContain('its certificate is for another host (ERR_TLS_CERT_ALTNAME_INVALID)');
    expect(server.logins).toEqual([]);
  });
});
