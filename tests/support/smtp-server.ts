import { readFileSync } from 'node:fs';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { onTestFinished } from 'vitest';
import type { MailServer } from '#mail/send-mail.ts';

/** A mail as it came over the wire. */
export type Received = {
  readonly from: string;
  readonly to: readonly string[];
  /** Header fields by their lower-case name, unfolded. */
  readonly headers: Readonly<Record<string, string>>;
  /** The whole text with its headers. */
  readonly raw: string;
  readonly user: string | null;
  readonly secure: boolean;
};

/** A mail server that keeps what it gets. */
export type TestSmtpServer = {
  readonly port: number;
  readonly received: readonly Received[];
  /** Logins that were tried, and whether TLS was there. */
  readonly logins: readonly { readonly username: string; readonly secure: boolean }[];
  /** Resolves when a client waits for an answer that it will not get. */
  readonly hanging: Promise<void>;
  /** Its address and login as settings of `sendMail`. */
  readonly at: (settings?: Partial<MailServer>) => MailServer;
};

/** Settings of a server, which rejects some receivers (`onRcptTo`) and passwords other than `secret`. */
export type TestSmtpOptions = Pick<SMTPServerOptions, 'secure' | 'disabledCommands' | 'allowInsecureAuth'> & {
  readonly login?: boolean;
  /** Never answers this command. */
  readonly hangs?: 'RCPT' | 'DATA';
  readonly refusesSender?: boolean;
};

const tls = join(import.meta.dirname, 'tls');

/** The file with the certificate of every test server, for `NODE_EXTRA_CA_CERTS`; it is for localhost and 127.0.0.1. */
export const certificate = join(tls, 'certificate.pem');

/** Starts a server on 127.0.0.1 that ends with the test. */
export async function smtpServer(options: TestSmtpOptions = {}): Promise<TestSmtpServer> {
  const received: Received[] = [];
  const logins: { username: string; secure: boolean }[] = [];
  let hang = () => {};
  const hanging = new Promise<void>((resolve) => {
    hang = resolve;
  });
  const { login = false, hangs, refusesSender, ...own } = options;
  const server = new SMTPServer({
    logger: false,
    authOptional: !login,
    key: readFileSync(join(tls, 'key.pem')),
    cert: readFileSync(certificate),
    ...own,
    onAuth: ({ username = '', password }, session, done) => {
      logins.push({ username, secure: session.secure });
      if (password === 'secret') done(null, { user: username });
      else done(new Error('Wrong username or password'));
    },
    onMailFrom: (_address, _session, done) => done(refusesSender ? refusal('no mail from you') : null),
    onRcptTo: ({ address }, _session, done) => {
      if (hangs === 'RCPT') return hang();
      done(address.startsWith('nobody') ? refusal('no such user here') : null);
    },
    onData: (stream, session, done) => {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (hangs === 'DATA') return hang();
        const { mailFrom, rcptTo } = session.envelope;
        received.push({
          from: mailFrom === false ? '' : mailFrom.address,
          to: rcptTo.map(({ address }) => address),
          ...parsed(Buffer.concat(chunks).toString()),
          user: session.user ? String(session.user) : null,
          secure: session.secure,
        });
        done();
      });
    },
  });
  // A client that gives up is part of what is tested.
  server.on('error', () => {});
  const connections = new Set<Socket>();
  server.server.on('connection', (socket: Socket) => {
    connections.add(socket);
    socket.on('close', () => connections.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    const closed = new Promise<void>((resolve) => server.close(resolve));
    for (const socket of connections) socket.destroy();
    await closed;
  });
  const { port } = server.server.address() as AddressInfo;
  const at = (settings = {}) => ({
    host: '127.0.0.1',
    port,
    secure: own.secure ?? false,
    login: login ? { username: 'me', password: 'secret' } : null,
    ...settings,
  });
  return { port, received, logins, hanging, at };
}

function refusal(message: string): Error {
  return Object.assign(new Error(message), { responseCode: 550 });
}

function parsed(raw: string): Pick<Received, 'headers' | 'raw'> {
  const [head = ''] = raw.split('\r\n\r\n', 1);
  const fields = head.replace(/\r\n[ \t]+/g, ' ').split('\r\n');
  const entries = fields.map((field) => {
    const at = field.indexOf(':');
    return [field.slice(0, at).toLowerCase(), field.slice(at + 1).trim()] as const;
  });
  return { headers: Object.fromEntries(entries), raw };
}
