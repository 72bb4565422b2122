import { isIPv4 } from 'node:net';
import { certificateProblems, isUntrusted } from '#core/certificate-problem.ts';
import type { SmtpSettings, Template } from '#core/workflow.ts';

/** Why a mail was not sent, as one line for the user. */
export class MailProblem extends Error {}

/** A recipient rejected by the server, with its answer. */
type RefusedRecipient = { readonly recipient?: string | undefined; readonly response?: string | undefined };

/** Fields of nodemailer errors. */
type MailError = Error & {
  readonly code?: string;
  /** The underlying system or TLS error code. */
  readonly originalCode?: string;
  readonly command?: string;
  readonly response?: string;
  readonly timeoutType?: string;
  readonly rejectedErrors?: readonly RefusedRecipient[];
};

const byCode: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  ECONNRESET: 'the connection was closed before the mail was accepted',
  ECONNECTION: 'the connection was closed before the mail was accepted',
  EPIPE: 'the connection was closed before the mail was accepted',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  EAI_AGAIN: 'its name cannot be resolved: no name server responds',
  EPROTO: 'the server does not speak TLS on this port',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS on this port',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS on this port',
  ...certificateProblems,
};

const byTimeout: { readonly [type: string]: string } = {
  CONNECT_TIMEOUT: 'the connection timed out',
  GREETING_TIMEOUT: 'it accepts connections but sends no greeting (for TLS from the start, use port 465)',
  SOCKET_TIMEOUT: 'it stopped responding',
};

/** The recipient with the server's answer. */
function refusedRecipient({ recipient = '', response = '' }: RefusedRecipient): string {
  return response === '' ? recipient : `${recipient} (${firstLine(response)})`;
}

function refused({ rejectedErrors = [], response = '', message }: MailError): string {
  if (rejectedErrors.length > 0)
    return `it rejected every recipient: ${rejectedErrors.map(refusedRecipient).join(', ')}`;
  return response === '' ? firstLine(message) : `it rejected the sender: ${firstLine(response)}`;
}

/** Explains an error of a mail server in one line. */
function explain(error: MailError, { host, login }: MailServer): string {
  const { code = '', originalCode = '', response = '', timeoutType = '', command = '' } = error;
  if (code === 'EENVELOPE') return refused(error);
  if (code === 'EAUTH')
    return `it rejected the login as "${login?.username ?? ''}": ${firstLine(response || error.message)}`;
  if (code === 'EDNS') return byCode[originalCode] ?? `unknown host "${host}"`;
  if (code === 'ETIMEDOUT') return byTimeout[timeoutType] ?? 'it stopped responding';
  const known = byCode[originalCode];
  if (known !== undefined) return known + certificateHelp(originalCode);
  const said = response === '' ? '' : ` (${firstLine(response)})`;
  if (code === 'ETLS' && command !== 'STARTTLS') return `TLS negotiation failed${said}`;
  if (code === 'ETLS') return `it offers no TLS${said}, and a password is not sent without it`;
  if (response !== '') return `it rejected the mail: ${firstLine(response)}`;
  return byCode[code] ?? firstLine(error.message);
}

function certificateHelp(code: string): string {
  if (!/SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^CERT_|ALTNAME/.test(code)) return '';
  const trust = isUntrusted(code) ? '; set NODE_EXTRA_CA_CERTS to a file with the certificate to trust' : '';
  return ` (${code})${trust}`;
}

function firstLine(text: string): string {
  return text.split(/[\r\n]/, 1)[0] ?? '';
}

/** A mail address; `name` is empty if only the address is known. */
type Address = { readonly name: string; readonly address: string };

/** Trims a text for a header. Throws a `MailProblem` for a line break or NUL, which could inject headers. */
export function headerText(text: string, key: string): string {
  const trimmed = text.trim();
  if (/[\r\n\0]/.test(trimmed))
    throw new MailProblem(`"${key}" contains a line break, which is not allowed in headers`);
  return trimmed;
}

/**
 * Parses the addresses in one or several comma-separated texts after replacing variables: `ops@example.com`, `Ops
 * <ops@example.com>`, `"Doe, Jo" <jo@example.com>`, or the name of a local user of the server. Throws a `MailProblem`
 * for anything else: a recipient must never be dropped silently.
 */
export function addresses(
  texts: readonly Template[],
  key: string,
  expand: (text: Template) => string,
): readonly Address[] {
  return texts.flatMap((text) => splitList(headerText(expand(text), key))).map((text) => parseAddress(text, key));
}

/** Splits at commas outside quotes. */
function splitList(text: string): readonly string[] {
  const entries = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,"]|")+/g) ?? [];
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function parseAddress(text: string, key: string): Address {
  const [, name = '', address = text] = /^(.*?)\s*<([^<>]*)>$/.exec(text) ?? [];
  if (/^[^\s<>@",;:()[\]\\]+(?:@[^\s<>@",;()\\]+)?$/.test(address))
    return { name: name.replace(/^"(.*)"$/, (_, quoted) => quoted.replace(/\\(.)/g, '$1')), address };
  throw new MailProblem(`${JSON.stringify(text)} in "${key}" is not an address such as name@example.com`);
}

/** A mail server with every variable replaced. */
export type MailServer = {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS if the server offers it. */
  readonly secure: boolean;
  readonly login: { readonly username: string; readonly password: string } | null;
};

/** The port for implicit TLS (RFC 8314). */
const SECURE_PORT = 465;

/** The server configured by a workflow's `smtp`. Throws a `MailProblem` that names the missing or invalid key. */
export function mailServer(smtp: SmtpSettings | null, expand: (text: Template) => string): MailServer {
  if (smtp === null) throw new MailProblem('the workflow has no "smtp": give it the "host" of a mail server');
  const value = (text: Template | null) => expand(text ?? '').trim();
  const host = value(smtp.host).replace(/^\[(.*)\]$/, '$1');
  if (!/^[^\s/@]+$/.test(host))
    throw new MailProblem(`"smtp.host" is ${JSON.stringify(host)}, which is not a host name`);
  const port = portNumber(value(smtp.port));
  return { host, port, secure: port === SECURE_PORT, login: login(value(smtp.username), expand(smtp.password ?? '')) };
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

/** A mail to be sent. */
export type Mail = {
  readonly from: readonly Address[];
  readonly to: readonly Address[];
  readonly cc?: readonly Address[];
  readonly bcc?: readonly Address[];
  /** Without line breaks, see `headerText`. */
  readonly subject: string;
  /** Text, or HTML if it starts with a tag; then a text version is generated unless one is given. */
  readonly message: string;
  readonly text?: string;
  readonly attachments?: readonly Attachment[];
  readonly headers?: Readonly<Record<string, string>>;
};

/** A file by path, or inline content. */
export type Attachment =
  | { readonly filename: string; readonly path: string }
  | { readonly filename: string; readonly content: Buffer };

/** An accepted mail. `refused`: recipients that the server rejected, with reasons. */
export type Sent = {
  readonly messageId: string;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
};

const usualPatience = {
  dnsTimeout: 20_000,
  connectionTimeout: 30_000,
  greetingTimeout: 30_000,
  /** Without any answer, including the time the server takes to scan a mail. */
  socketTimeout: 120_000,
};

/** Timeouts in milliseconds. */
export type MailPatience = typeof usualPatience;

/**
 * Sends a mail. The login is never sent without TLS, except to this machine, whose certificate is not checked either.
 * Throws a `MailProblem`, also when `signal` is aborted.
 */
export async function sendMail(
  server: MailServer,
  mail: Mail,
  { signal, patience = usualPatience }: { readonly signal: AbortSignal; readonly patience?: MailPatience },
): Promise<Sent> {
  const { from, to, cc = [], bcc = [] } = mail;
  if (to.length + cc.length + bcc.length === 0) throw new MailProblem('the mail has no recipient: "to" is empty');
  if (from.length === 0) throw new MailProblem('the mail has no sender: "from" is empty');
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({ ...connection(server), ...patience });
  try {
    const { messageId, accepted, rejected, rejectedErrors } = await transport.sendMail({ ...message(mail), signal });
    const refused = rejectedErrors?.map((error) => refusedRecipient(error)) ?? rejected.map(addressText);
    return { messageId, accepted: accepted.map(addressText), refused };
  } catch (error) {
    if (signal.aborted) throw new MailProblem('stopped before the mail was sent');
    const why = explain(error instanceof Error ? error : new Error(String(error)), server);
    throw new MailProblem(`mail server ${server.host}:${server.port}: ${why}`);
  } finally {
    transport.close();
  }
}

function connection({ host, port, secure, login }: MailServer) {
  const isNear = isLocalServer({ host });
  return {
    host,
    port,
    secure,
    requireTLS: login !== null && !isNear,
    tls: { rejectUnauthorized: !isNear },
    // Send the login even if the server does not offer one: its answer explains why.
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password }, forceAuth: true }),
    // Do not wait after the mail is accepted or abandoned.
    socketCloseTimeout: 0,
    disableUrlAccess: true,
  };
}

function message({ from, to, cc = [], bcc = [], message: body, text, attachments = [], ...headers }: Mail) {
  const content = isHtml(body) ? { html: body, text: text ?? htmlToText(body) } : { text: body };
  const people = { from: [...from], to: [...to], cc: [...cc], bcc: [...bcc] };
  return { ...headers, ...people, ...content, attachments: [...attachments] };
}

function addressText(address: string | { readonly address: string }): string {
  return typeof address === 'string' ? address : address.address;
}

/** Tags that mark a message as HTML when it starts with one. */
const LEADING_TAG =
  /^\s*(?:<!--|<!doctype html\b|<(?:html|head|body|div|p|h[1-6]|table|ul|ol|dl|pre|span|b|strong|i|em|a|br|hr|img|style|center|font|section|article|header)\b[^<>]*>)/i;

/** Whether the message starts with a tag; `<root@host> says` does not. */
export function isHtml(message: string): boolean {
  return LEADING_TAG.test(message);
}

/** Converts HTML to text for mail programs that show only text. */
export function htmlToText(html: string): string {
  return decodeEntities(
    html
      .replace(/<!--[\s\S]*?(?:-->|$)/g, '')
      .replace(/<(head|style|script|title)\b[\s\S]*?(?:<\/\1\s*>|$)/gi, '')
      .replace(/\s+/g, ' ')
      .replace(/<(?:br|hr|\/?(?:p|div|h[1-6]|table|tr|ul|ol|dl|pre|section|article|header|center))\b[^<>]*>/gi, '\n')
      .replace(/<li\b[^<>]*>/gi, '\n- ')
      .replace(/<\/t[dh]\s*>/gi, '  ')
      .replace(/<\/?[a-z!][^<>]*>/gi, ''),
  )
    .split('\n')
    .map((line) => line.trim())
    .join('\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const named: { readonly [name: string]: string } = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ' };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,6}));/gi, (whole, decimal, hex, name) => {
    if (name !== undefined) return named[String(name).toLowerCase()] ?? whole;
    const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal);
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}
