import type { Address } from './addresses.ts';
import { htmlToText, isHtml } from './html.ts';
import { explainMailError, MailProblem, refusedRecipient } from './problem.ts';
import { isLoopback, type MailServer } from './server.ts';

/** A mail to be sent. */
export type Mail = {
  readonly from: readonly Address[];
  readonly to: readonly Address[];
  readonly cc?: readonly Address[];
  readonly bcc?: readonly Address[];
  /** Without line breaks, as `headerText` makes it. */
  readonly subject: string;
  /** Text, or HTML when it begins with a tag; then a text is made of it for those who see no HTML, unless one is given. */
  readonly message: string;
  readonly text?: string;
  readonly attachments?: readonly Attachment[];
  readonly headers?: Readonly<Record<string, string>>;
};

/** A file by its path, or what a file would hold. */
export type Attachment =
  | { readonly filename: string; readonly path: string }
  | { readonly filename: string; readonly content: Buffer };

/** What became of a mail that was taken. `refused` are receivers that the server did not want, each with its reason. */
export type Sent = {
  readonly messageId: string;
  readonly accepted: readonly string[];
  readonly refused: readonly string[];
};

/** How long what may take, in milliseconds. */
export type Patience = {
  readonly dnsTimeout: number;
  readonly connectionTimeout: number;
  readonly greetingTimeout: number;
  /** Without any answer, also while the server looks through a mail. */
  readonly socketTimeout: number;
};

const usualPatience: Patience = {
  dnsTimeout: 20_000,
  connectionTimeout: 30_000,
  greetingTimeout: 30_000,
  socketTimeout: 120_000,
};

/**
 * Hands a mail to the server. The login is never sent without TLS, except to this machine itself, whose certificate is
 * not checked either: nothing goes over a network. Throws a `MailProblem`, also when `signal` is aborted.
 */
export async function sendMail(
  server: MailServer,
  mail: Mail,
  { signal, patience = usualPatience }: { readonly signal: AbortSignal; readonly patience?: Patience },
): Promise<Sent> {
  const { from, to, cc = [], bcc = [] } = mail;
  if (to.length + cc.length + bcc.length === 0) throw new MailProblem('the mail has no receiver: "to" is empty');
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
  const isNear = isLoopback(server);
  return {
    host,
    port,
    secure,
    requireTLS: login !== null && !isNear,
    tls: { rejectUnauthorized: !isNear },
    // A server that does not offer a login gets ours all the same, and says what it thinks of it.
    ...(login === null ? {} : { auth: { user: login.username, pass: login.password }, forceAuth: true }),
    // When the mail is taken or given up, nothing more is to be said.
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
