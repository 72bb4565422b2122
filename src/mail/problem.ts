/** Why a mail was not sent; the message is one line for the user. */
export class MailProblem extends Error {}

/** What an explanation says of the server. */
type NamedServer = {
  readonly host: string;
  readonly port: number;
  readonly login: { readonly username: string } | null;
};

/** One receiver whom the server did not want, and its answer. */
type RefusedRecipient = { readonly recipient?: string | undefined; readonly response?: string | undefined };

/** What the errors of nodemailer carry besides a message. */
type MailError = Error & {
  readonly code?: string;
  /** The code of the system or of TLS beneath. */
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
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  EAI_AGAIN: 'its name cannot be looked up just now: no name server answers',
  EPROTO: 'no TLS is spoken there',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken there',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no TLS is spoken there',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not known here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

const byTimeout: { readonly [type: string]: string } = {
  CONNECT_TIMEOUT: 'nobody answers there',
  GREETING_TIMEOUT: 'it accepts connections but says nothing (one that wants TLS at once has port 465)',
  SOCKET_TIMEOUT: 'it stopped answering',
};

/** Those of a certificate that one may trust all the same. */
const untrusted = /SELF_SIGNED|ISSUER|LEAF_SIGNATURE/;

/** Puts what went wrong between us and a mail server in one line. */
export function explainMailError(error: unknown, server: NamedServer): string {
  const cause: MailError = error instanceof Error ? error : new Error(String(error));
  return `mail server ${server.host}:${server.port}: ${explain(cause, server)}`;
}

/** The recipient with what the server said of it. */
export function refusedRecipient({ recipient = '', response = '' }: RefusedRecipient): string {
  return response === '' ? recipient : `${recipient} (${firstLine(response)})`;
}

function refused({ rejectedErrors = [], response = '', message }: MailError): string {
  if (rejectedErrors.length > 0) return `it refused every receiver: ${rejectedErrors.map(refusedRecipient).join(', ')}`;
  return response === '' ? firstLine(message) : `it refused the sender: ${firstLine(response)}`;
}

function explain(error: MailError, { host, login }: NamedServer): string {
  const { code = '', originalCode = '', response = '', timeoutType = '', command = '' } = error;
  if (code === 'EENVELOPE') return refused(error);
  if (code === 'EAUTH') return `it refused the login as "${login?.username ?? ''}": ${said(error)}`;
  if (code === 'EDNS') return byCode[originalCode] ?? `no host has the name "${host}"`;
  if (code === 'ETIMEDOUT') return byTimeout[timeoutType] ?? 'it stopped answering';
  const known = byCode[originalCode];
  if (known !== undefined) return known + certificateHelp(originalCode);
  if (code === 'ETLS') return noTls(command, response);
  if (response !== '') return `it refused the mail: ${firstLine(response)}`;
  return byCode[code] ?? firstLine(error.message);
}

function noTls(command: string, response: string): string {
  const why = response === '' ? '' : ` (${firstLine(response)})`;
  if (command !== 'STARTTLS') return `no TLS could be agreed on${why}`;
  return `it offers no TLS${why}, and a password is not sent without it`;
}

function said({ response = '', message }: MailError): string {
  return firstLine(response === '' ? message : response);
}

function certificateHelp(code: string): string {
  if (!/SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^CERT_|ALTNAME/.test(code)) return '';
  const trust = untrusted.test(code) ? '; set NODE_EXTRA_CA_CERTS to a file with the certificate to trust' : '';
  return ` (${code})${trust}`;
}

function firstLine(text: string): string {
  return text.split(/[\r\n]/, 1)[0] ?? '';
}
