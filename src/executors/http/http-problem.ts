import { certificateProblems, isUntrusted } from '#core/certificate-problem.ts';

/** Why a request got no complete answer; the message is one line for the user. */
export class RequestProblem extends Error {}

const byCode: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  EAI_AGAIN: 'its name cannot be resolved: no name server responds',
  ECONNRESET: 'the connection was closed before the response was complete',
  EPIPE: 'the connection was closed before the response was complete',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was closed before the response was complete',
  ETIMEDOUT: 'the connection timed out',
  EHOSTUNREACH: 'no route to the host',
  ENETUNREACH: 'no route to the network',
  HPE_HEADER_OVERFLOW: 'the headers of the response are larger than 16 KiB',
  EPROTO: 'the server does not speak TLS on this port; is it http instead of https?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the server does not speak TLS on this port; is it http instead of https?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'the server does not speak TLS on this port; is it http instead of https?',
  ...certificateProblems,
};

/** The request that failed. `canSkipTls`: it has the setting "skipTLSVerify". */
type RequestContext = { readonly url: URL; readonly proxy: URL | null; readonly canSkipTls: boolean };

/** Explains a request error, with URL and proxy, in one line. */
export function explainRequestError(error: unknown, context: RequestContext): string {
  const { proxy } = context;
  const own = [error, error instanceof Error ? error.cause : null].find((one) => one instanceof RequestProblem);
  if (own !== undefined) return own.message;
  const by = proxy === null ? '' : ` (through the proxy ${shownUrl(proxy)})`;
  return (error instanceof Error ? explain(error, context) : String(error)) + by;
}

function explain({ code = '', message }: NodeJS.ErrnoException, { url, canSkipTls }: RequestContext): string {
  if (code === 'ENOTFOUND') return `unknown host "${url.hostname}"`;
  const alert = tlsAlert(code, message);
  if (alert !== null) return alert;
  const known = byCode[code];
  if (known !== undefined) return known + certificateHelp(code, canSkipTls);
  if (code.startsWith('HPE_')) return `the response is not HTTP: ${firstLine(message).replace('Parse Error: ', '')}`;
  if (/^Z_|^ERR__ERROR/.test(code)) return `the body cannot be decompressed: ${firstLine(message)}`;
  return firstLine(message) || code;
}

const CLIENT_CERTIFICATE_HELP = 'an http step has none: use a command step with curl --cert FILE --key FILE';

/** The TLS alert with which a server ended the handshake; null for any other failure. */
function tlsAlert(code: string, message: string): string | null {
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
    return `the server requires a client certificate; ${CLIENT_CERTIFICATE_HELP}`;
  const alert = /SSL routines:[^:]*:(?:tlsv1\d?|sslv3|ssl\/tls) alert ([^:]+)/.exec(message)?.[1];
  if (alert === undefined) return null;
  const advice =
    alert === 'handshake failure' ? `; if it requires a client certificate, ${CLIENT_CERTIFICATE_HELP}` : '';
  return `the server refused the TLS connection (${alert})${advice}`;
}

/** `GET https://example.com/: connection refused` */
export function requestLine(method: string, url: URL, what: string): string {
  return `${method} ${shownUrl(url)}: ${what}`;
}

function certificateHelp(code: string, canSkipTls: boolean): string {
  if (!Object.hasOwn(certificateProblems, code)) return '';
  const ways = [
    ...(isUntrusted(code) ? ['set NODE_EXTRA_CA_CERTS to a file with the certificate to trust'] : []),
    ...(canSkipTls ? ['set skipTLSVerify to accept any'] : []),
  ];
  return ` (${code})${ways.length === 0 ? '' : `; ${ways.join(', or ')}`}`;
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? '';
}

/** Names of headers and query parameters whose values are hidden. */
const SECRET_NAME = /auth|cookie|token|secret|password|passwd|signature|api-?_?key|access-?_?key/i;

/** A URL for messages: no fragment, and `***` for credentials. */
export function shownUrl(url: URL): string {
  const userinfo = url.username === '' && url.password === '' ? '' : '***@';
  return `${url.protocol}//${userinfo}${url.host}${url.pathname}${shownQuery(url.search)}`;
}

/** The same for a text that may not be a URL. */
export function shownUrlText(text: string): string {
  const [beforeQuery = '', ...query] = text.replace(/(^|\/\/)[^/@\s?#]*@/, '$1***@').split('?');
  return query.length === 0 ? beforeQuery : `${beforeQuery}${shownQuery(`?${query.join('?')}`)}`;
}

/** The value of a header for messages. */
export function shownHeader(name: string, value: string): string {
  return SECRET_NAME.test(name) ? '***' : value;
}

function shownQuery(search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]+)/g, (whole, sign: string, name: string) =>
    SECRET_NAME.test(name) ? `${sign}${name}=***` : whole,
  );
}
