import type { Address } from './addresses.ts';
import { explainMailError, MailProblem, refusedRecipient } from './mail-problem.ts';
import { isLocalServer, type MailServer } from './mail-server.ts';

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

/** Timeouts in milliseconds. */
export type MailPatience = {
  readonly dnsTimeout: number;
  readonly connectionTimeout: number;
  readonly greetingTimeout: number;
  /** Without any answer, including the time the server takes to scan a mail. */
  readonly socketTimeout: number;
};

const usualPatience: MailPatience = {
  dnsTimeout: 20_000,
  connectionTimeout: 30_000,
  greetingTimeout: 30_000,
  socketTimeout: 120_000,
};

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
    throw new MailProblem(signal.aborted ? 'stopped before the mail was sent' : explainMailError(error, server));
  } finally {
    transport.close();
  }
}

function connection(server: MailServer) {
  const { host, port, secure, login } = server;
  const isNear = isLocalServer(server);
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
const leadingTag =
  /^\s*(?:<!--|<!doctype html\b|<(?:html|head|body|div|p|h[1-6]|table|ul|ol|dl|pre|span|b|strong|i|em|a|br|hr|img|style|center|font|section|article|header)\b[^<>]*>)/i;

/** Whether the message starts with a tag; `<root@host> says` does not. */
export function isHtml(message: string): boolean {
  return leadingTag.test(message);
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
