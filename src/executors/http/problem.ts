import { shownUrl } from './shown.ts';

/** Why a request had no complete answer; the message is one line for the user. */
export class RequestProblem extends Error {}

const byCode: { readonly [code: string]: string } = {
  ECONNREFUSED: 'connection refused',
  EAI_AGAIN: 'its name cannot be looked up just now: no name server answers',
  ECONNRESET: 'the connection was closed before the answer was complete',
  EPIPE: 'the connection was closed before the answer was complete',
  ERR_STREAM_PREMATURE_CLOSE: 'the connection was closed before the answer was complete',
  ETIMEDOUT: 'nobody answers there',
  EHOSTUNREACH: 'there is no way to that host',
  ENETUNREACH: 'there is no way to that network',
  HPE_HEADER_OVERFLOW: 'the headers of the answer are larger than 16 KiB',
  EPROTO: 'no TLS is spoken there; is it http instead of https?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'no TLS is spoken there; is it http instead of https?',
  ERR_SSL_PACKET_LENGTH_TOO_LONG: 'no TLS is spoken there; is it http instead of https?',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'its certificate is self-signed',
  SELF_SIGNED_CERT_IN_CHAIN: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'its certificate comes from an authority that is not known here',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'its certificate comes from an authority that is not known here',
  CERT_HAS_EXPIRED: 'its certificate has expired',
  CERT_NOT_YET_VALID: 'its certificate is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'its certificate is for another host',
};

/** Those of a certificate that one may trust all the same. */
const untrusted = /SELF_SIGNED|ISSUER|LEAF_SIGNATURE/;
const certificate = /SELF_SIGNED|ISSUER|LEAF_SIGNATURE|^CERT_|ALTNAME/;

/** Puts what went wrong with a request, to a URL and by way of a proxy, in one line. */
export function explainRequestError(error: unknown, url: URL, proxy: URL | null): string {
  const own = [error, error instanceof Error ? error.cause : null].find((one) => one instanceof RequestProblem);
  if (own !== undefined) return own.message;
  const by = proxy === null ? '' : ` (through the proxy ${shownUrl(proxy)})`;
  return (error instanceof Error ? explain(error, url) : String(error)) + by;
}

function explain({ code = '', message }: NodeJS.ErrnoException, url: URL): string {
  if (code === 'ENOTFOUND') return `no host has the name "${url.hostname}"`;
  const alert = tlsAlert(code, message);
  if (alert !== null) return alert;
  const known = byCode[code];
  if (known !== undefined) return known + certificateHelp(code);
  if (code.startsWith('HPE_')) return `the answer is not HTTP: ${firstLine(message).replace('Parse Error: ', '')}`;
  if (/^Z_|^ERR__ERROR/.test(code)) return `the body cannot be decompressed: ${firstLine(message)}`;
  return firstLine(message) || code;
}

const clientCertificateHelp = 'an http step has none: use a command step with curl --cert FILE --key FILE';

/** What a server that speaks TLS said when it ended the handshake; null for any other failure. */
function tlsAlert(code: string, message: string): string | null {
  if (code === 'ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED')
    return `the server requires a client certificate; ${clientCertificateHelp}`;
  const alert = /SSL routines:[^:]*:(?:tlsv1\d?|sslv3) alert ([^:]+)/.exec(message)?.[1];
  if (alert === undefined) return null;
  const advice = alert === 'handshake failure' ? `; if it requires a client certificate, ${clientCertificateHelp}` : '';
  return `the server refused the TLS connection (${alert})${advice}`;
}

/** `GET https://example.com/: connection refused` */
export function requestLine(method: string, url: URL, what: string): string {
  return `${method} ${shownUrl(url)}: ${what}`;
}

function certificateHelp(code: string): string {
  if (!certificate.test(code)) return '';
  const trust = untrusted.test(code) ? 'set NODE_EXTRA_CA_CERTS to a file with the certificate to trust, or ' : '';
  return ` (${code}); ${trust}set skipTLSVerify to accept any`;
}

function firstLine(message: string): string {
  return message.split('\n')[0] ?? '';
}
