import type { Pairs } from './header-fields.ts';
import { RequestProblem } from './http-problem.ts';
import { shownUrlText } from './shown.ts';

/** One request as sent. */
export type Hop = {
  readonly method: string;
  /** Without credentials, which are in a header. */
  readonly url: URL;
  readonly headers: Pairs;
  /** Empty: none. */
  readonly body: string;
};

/** The head of an answer; headers as sent. */
export type ResponseHead = {
  readonly httpVersion: string;
  readonly status: number;
  readonly statusText: string;
  readonly headers: Pairs;
};

const redirects = new Set([301, 302, 303, 307, 308]);
const forOneOrigin = new Set(['authorization', 'cookie', 'proxy-authorization', 'host']);
/** Header names that suggest a credential: `X-Api-Key`, `Private-Token`, `X-Vault-Token`. */
const namesCredential = /key|token|auth|secret|passw|session|signature/i;

/**
 * The request that an answer redirects to, or null. Like in browsers, 303 makes it a GET, and so do 301 and 302 for a
 * POST (RFC 9110, 15.4). For another origin credentials are dropped: headers with a telling name, or whose value
 * `holdsSecret`. Throws a `RequestProblem` for a location that is neither http nor https.
 */
export function nextHop(
  hop: Hop,
  { status, headers }: ResponseHead,
  holdsSecret: (text: string) => boolean,
): Hop | null {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  if (location === undefined || !redirects.has(status)) return null;
  const url = locationUrl(location, hop.url);
  const isCredential = (name: string, value: string) =>
    forOneOrigin.has(name) || namesCredential.test(name) || holdsSecret(value);
  const sent = isSameOrigin(hop.url, url) ? hop.headers : without(hop.headers, isCredential);
  const isGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  if (!isGet) return { ...hop, url, headers: sent };
  return { method: 'GET', url, headers: without(sent, (name) => name.startsWith('content-')), body: '' };
}

function locationUrl(location: string, from: URL): URL {
  // Node decodes headers as Latin-1, but servers send UTF-8.
  const text = Buffer.from(location, 'latin1').toString();
  const url = URL.canParse(text, from.href) ? new URL(text, from) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new RequestProblem(`it redirects to "${shownUrlText(text)}", which is neither http nor https`);
  }
  // Only the user provides credentials, not a redirect.
  url.username = '';
  url.password = '';
  return url;
}

/** Switching to https on the same host and port, or between the default ports, keeps the origin here. */
function isSameOrigin(from: URL, to: URL): boolean {
  const isUpgrade = from.protocol === 'http:' && to.protocol === 'https:' && from.hostname === to.hostname;
  return from.origin === to.origin || (isUpgrade && (from.port === to.port || portOf(from) === portOf(to)));
}

function portOf({ port, protocol }: URL): string {
  return port || (protocol === 'https:' ? '443' : '80');
}

function without(headers: Pairs, isLeftOut: (name: string, value: string) => boolean): Pairs {
  return headers.filter(([name, value]) => !isLeftOut(name.toLowerCase(), value));
}
