import { certificateProblems, isUntrusted } from '#core/certificate-problem.ts';
/** Why a mail was not sent, as one line for the user. */
export class MailProblem extends Error {}

/** Server fields used in messages. */
type NamedServer = {
  readonly host: string;
  readonly port: number;
  readonly login: { readonly username: string } | null;
};

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

/** Explains a mail server error in one line. */
export function explainMailError(error: unknown, server: NamedServer): string {
  const cause: MailError = error instanceof Error ? error : new Error(String(error));
  return `mail server ${server.host}:${server.port}: ${explain(cause, server)}`;
}

/** The recipient with the server's answer. */
export function refusedRecipient({ recipient = '', response = '' }: RefusedRecipient): string {
  return response === '' ? recipient : `${recipient} (${firstLine(response)})`;
}

function refused({ rejectedErrors = [], response = '', message }: MailError): string {
  if (rejectedErrors.length > 0)
    return `it rejected every recipient: ${rejectedErrors.map(refusedRecipient).join(', ')}`;
  return response === '' ? firstLine(message) : `it rejected the sender: ${firstLine(response)}`;
}

function explain(error: MailError, { host, login }: NamedServer): string {
  const { code = '', originalCode = '', response = '', timeoutType = '', command = '' } = error;
  if (code === 'EENVELOPE') return refused(error);
  if (code === 'EAUTH') return `it rejected the login as "${login?.username ?? ''}": ${said(error)}`;
  if (code === 'EDNS') return byCode[originalCode] ?? `unknown host "${host}"`;
  if (code === 'ETIMEDOUT') return byTimeout[timeoutType] ?? 'it stopped responding';
  const known = byCode[originalCode];
  if (known !== undefined) return known + certificateHelp(originalCode);
  if (code === 'ETLS') return noTls(command, response);
  if (response !== '') return `it rejected the mail: ${firstLine(response)}`;
  return byCode[code] ?? firstLine(error.message);
}

function noTls(command: string, response: string): string {
  const why = response === '' ? '' : ` (${firstLine(response)})`;
  if (command !== 'STARTTLS') return `TLS negotiation failed${why}`;
  return `it offers no TLS${why}, and a password is not sent without it`;
}

function said({ response = '', message }: MailError): string {
  return firstLine(response === '' ? message : response);
}

function certificateHelp(code: string): string {
  if (!/SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^CERT_|ALTNAME/.test(code)) return '';
  const trust = isUntrusted(code) ? '; set NODE_EXTRA_CA_CERTS to a file with the certificate to trust' : '';
  return ` (${code})${trust}`;
}

function firstLine(text: string): string {
  return text.split(/[\r\n]/, 1)[0] ?? '';
}
