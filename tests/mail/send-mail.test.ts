import { type AddressInfo, createServer } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type Mail, type MailPatience, MailProblem, type MailServer, sendMail } from '#mail/send-mail.ts';
import { smtpServer } from '../support/smtp-server.ts';

const mail: Mail = {
  from: [{ name: '', address: 'ci@example.org' }],
  to: [{ name: '', address: 'ops@example.org' }],
  subject: 'Done',
  message: 'All done.\n',
};

/** Short timeouts for tests that wait for them. */
const hasty: MailPatience = { dnsTimeout: 2000, connectionTimeout: 2000, greetingTimeout: 200, socketTimeout: 400 };

type Options = { readonly signal?: AbortSignal; readonly patience?: MailPatience };

function send(server: MailServer, changes: Partial<Mail> = {}, options: Options = {}) {
  return sendMail(server, { ...mail, ...changes }, { signal: new AbortController().signal, ...options });
}

function to(...names: string[]): Mail['to'] {
  return names.map((address) => ({ name: '', address }));
}

/** A server that accepts connections and sends nothing. */
async function muteServer(): Promise<number> {
  const server = createServer();
  await new Promise<void>((ready) => server.listen(0, '127.0.0.1', ready));
  onTestFinished(() => void server.close());
  return (server.address() as AddressInfo).port;
}

describe('encryption', () => {
  test('starts with STARTTLS if the server offers it', async () => {
    const server = await smtpServer();
    await send(server.at());
    expect(server.received.map(({ secure }) => secure)).toEqual([true]);
  });

  test('starts at once with a secure server', async () => {
    const server = await smtpServer({ secure: true });
    await send(server.at());
    expect(server.received.map(({ secure }) => secure)).toEqual([true]);
  });

  test('is optional if the server does not offer it and no password is sent', async () => {
    const server = await smtpServer({ disabledCommands: ['STARTTLS'] });
    // Any unusual spelling counts as another machine.
    await send(server.at({ host: '127.1' }));
    expect(server.received.map(({ secure }) => secure)).toEqual([false]);
  });

  test('is optional for a login on this machine', async () => {
    const server = await smtpServer({ login: true, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    await send(server.at());
    expect(server.logins).toEqual([{ username: 'me', secure: false }]);
  });

  test('is required for a login on another machine', async () => {
    const server = await smtpServer({ login: true, disabledCommands: ['STARTTLS'], allowInsecureAuth: true });
    await expect(send(server.at({ host: '127.1' }))).rejects.toThrow(
      `mail server 127.1:${server.port}: it offers no TLS (500 Error: command not recognized), and a password is not sent without it`,
    );
    expect(server.logins).toEqual([]);
  });

  test.each([true, false])('with an untrusted certificate is rejected (implicit TLS: %s)', async (secure) => {
    const server = await smtpServer({ secure, login: true });
    await expect(send(server.at({ host: '127.1' }))).rejects.toThrow(
      `mail server 127.1:${server.port}: its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT); set NODE_EXTRA_CA_CERTS to a file with the certificate to trust`,
    );
    expect(server.logins).toEqual([]);
  });

  test('that is expected at once and missing is reported', async () => {
    const server = await smtpServer();
    await expect(send(server.at({ secure: true }))).rejects.toThrow('the server does not speak TLS on this port');
  });
});

describe('a login', () => {
  test('sends name and password', async () => {
    const server = await smtpServer({ login: true });
    await send(server.at());
    expect(server.received.map(({ user }) => user)).toEqual(['me']);
  });

  test('that is rejected is reported, without the password', async () => {
    const server = await smtpServer({ login: true });
    const login = { username: 'me', password: 'wrong' };
    await expect(send(server.at({ login }))).rejects.toThrow(
      new MailProblem(
        `mail server 127.0.0.1:${server.port}: it rejected the login as "me": 535 Wrong username or password`,
      ),
    );
    expect(server.received).toEqual([]);
  });

  test('that is missing is reported by the server', async () => {
    const server = await smtpServer({ login: true });
    await expect(send(server.at({ login: null }))).rejects.toThrow('530 Error: authentication Required');
  });
});

describe('receivers', () => {
  test('get one mail together, and hidden ones are in none of its headers', async () => {
    const server = await smtpServer();
    const cc = [{ name: 'Dö, Jo', address: 'jo@example.org' }];
    const sent = await send(server.at(), { to: to('a@example.org', 'b@example.org'), cc, bcc: to('z@example.org') });
    expect(sent.accepted).toEqual(['a@example.org', 'b@example.org', 'jo@example.org', 'z@example.org']);
    expect(server.received).toMatchObject([
      {
        to: ['a@example.org', 'b@example.org', 'jo@example.org', 'z@example.org'],
        headers: { to: 'a@example.org, b@example.org', cc: '=?UTF-8?Q?D=C3=B6=2C_Jo?= <jo@example.org>' },
      },
    ]);
    expect(server.received[0]?.raw).not.toContain('z@example.org');
  });

  test('that the server rejects are reported, and the others get the mail', async () => {
    const server = await smtpServer();
    const { accepted, refused } = await send(server.at(), { to: to('nobody@example.org', 'a@example.org') });
    expect({ accepted, refused }).toEqual({
      accepted: ['a@example.org'],
      refused: ['nobody@example.org (550 no such user here)'],
    });
    expect(server.received.map((received) => received.to)).toEqual([['a@example.org']]);
  });

  test('that are all rejected are a failure', async () => {
    const server = await smtpServer();
    await expect(send(server.at(), { to: to('nobody@a', 'nobody@b') })).rejects.toThrow(
      'it rejected every recipient: nobody@a (550 no such user here), nobody@b (550 no such user here)',
    );
  });

  test('are required, and so is a sender', async () => {
    const server = await smtpServer();
    await expect(send(server.at(), { to: [] })).rejects.toThrow('the mail has no recipient: "to" is empty');
    await expect(send(server.at(), { from: [] })).rejects.toThrow('the mail has no sender: "from" is empty');
    expect(server.received).toEqual([]);
  });
});

test('a rejected sender is reported', async () => {
  const server = await smtpServer({ refusesSender: true });
  await expect(send(server.at())).rejects.toThrow('it rejected the sender: 550 no mail from you');
});

describe('a server', () => {
  const nowhere = { host: '127.0.0.1', port: 1, secure: false, login: null };

  test('that is unreachable is reported', async () => {
    await expect(send(nowhere)).rejects.toThrow(new MailProblem('mail server 127.0.0.1:1: connection refused'));
  });

  test('with an unknown name is reported', async () => {
    await expect(send({ ...nowhere, host: 'no-such-host.invalid' })).rejects.toThrow(
      /^mail server no-such-host\.invalid:1: (?:unknown host "no-such-host\.invalid"|its name cannot be resolved)/,
    );
  });

  test('that sends nothing is abandoned', async () => {
    const port = await muteServer();
    await expect(send({ ...nowhere, port }, {}, { patience: hasty })).rejects.toThrow(
      `mail server 127.0.0.1:${port}: it accepts connections but sends no greeting`,
    );
  });

  test.each(['RCPT', 'DATA'] as const)('that stops responding at %s is abandoned', async (hangs) => {
    const server = await smtpServer({ hangs });
    await expect(send(server.at(), {}, { patience: { ...hasty, greetingTimeout: 2000 } })).rejects.toThrow(
      'it stopped responding',
    );
  });

  test.each(['RCPT', 'DATA'] as const)('that hangs at %s does not delay a stop', async (hangs) => {
    const server = await smtpServer({ hangs });
    const stop = new AbortController();
    const sending = send(server.at(), {}, { signal: stop.signal });
    await server.hanging;
    stop.abort();
    await expect(sending).rejects.toThrow('stopped before the mail was sent');
  });
});

test('nothing is sent after a stop', async () => {
  const server = await smtpServer();
  await expect(send(server.at(), {}, { signal: AbortSignal.abort() })).rejects.toThrow('stopped');
  expect(server.received).toEqual([]);
});
