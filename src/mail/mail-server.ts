import { isIPv4 } from 'node:net';
import type { SmtpSettings, Template } from '#core/workflow.ts';
import { MailProblem } from './mail-problem.ts';

/** A mail server with every variable replaced. */
export type MailServer = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly login: { readonly username: string; readonly password: string } | null;
};

/** The port for implicit TLS (RFC 8314). */
const securePort = 465;

/** The server configured by a workflow's `smtp`. Throws a `MailProblem` that names the missing or invalid key. */
export function mailServer(smtp: SmtpSettings | null, expand: (text: Template) => string): MailServer {
  if (smtp === null) throw new MailProblem('the workflow has no "smtp": give it the "host" of a mail server');
  const value = (text: Template | null) => expand(text ?? '').trim();
  const host = value(smtp.host).replace(/^\[(.*)\]$/, '$1');
  if (!/^[^\s/@]+$/.test(host))
    throw new MailProblem(`"smtp.host" is ${JSON.stringify(host)}, which is not a host name`);
  const port = portNumber(value(smtp.port));
  return { host, port, secure: port === securePort, login: login(value(smtp.username), expand(smtp.password ?? '')) };
}

/** Whether the server is on this machine, so that nothing crosses a network. */
export function isLocalServer({ host }: Pick<MailServer, 'host'>): boolean {
  if (isIPv4(host)) return host.startsWith('127.');
  return host === '::1' || /^(?:.+\.)?localhost\.?$/i.test(host);
}

function portNumber(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (port >= 1 && port <= 65535) return port;
  throw new MailProblem(`"smtp.port" is ${JSON.stringify(text)}, which is not a port from 1 to 65535`);
}

/** Unset variables become empty texts: no login if both are empty, an error if only one is. */
function login(username: string, password: string): MailServer['login'] {
  if (username === '' && password === '') return null;
  if (username === '') throw new MailProblem('"smtp.password" is given but "smtp.username" is empty');
  if (password === '') throw new MailProblem('"smtp.username" is given but "smtp.password" is empty');
  return { username, password };
}
