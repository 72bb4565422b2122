import type { Hop, ResponseHead } from '../request.ts';
import type { Pairs } from './fields.ts';
import { RequestProblem } from './problem.ts';
import { shownUrlText } from './shown.ts';

const redirects = new Set([301, 302, 303, 307, 308]);
/** What one server was told is no business of another. */
const forOneOrigin = new Set(['authorization', 'cookie', 'proxy-authorization', 'host']);

/**
 * The request that an answer sends to, or null when it sends nowhere. As browsers do it, 303 makes it a GET, and so do 301
 * and 302 for a POST (RFC 9110, 15.4). Throws a `RequestProblem` for a place that is neither http nor https.
 */
export function nextHop(hop: Hop, { status, headers }: ResponseHead): Hop | null {
  const location = headers.find(([name]) => name.toLowerCase() === 'location')?.[1];
  if (location === undefined || !redirects.has(status)) return null;
  const url = locationUrl(location, hop.url);
  const sent = url.origin === hop.url.origin ? hop.headers : without(hop.headers, (name) => forOneOrigin.has(name));
  const isGet = (status === 303 && hop.method !== 'HEAD') || (status < 303 && hop.method === 'POST');
  if (!isGet) return { ...hop, url, headers: sent };
  return { method: 'GET', url, headers: without(sent, (name) => name.startsWith('content-')), body: '' };
}

function locationUrl(location: string, from: URL): URL {
  // Headers are read as Latin-1, but servers send UTF-8.
  const text = Buffer.from(location, 'latin1').toString();
  const url = URL.canParse(text, from.href) ? new URL(text, from) : null;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new RequestProblem(`it redirects to "${shownUrlText(text)}", which is neither http nor https`);
  }
  // Credentials are the user's to give.
  url.username = '';
  url.password = '';
  return url;
}

function without(headers: Pairs, isLeftOut: (name: string) => boolean): Pairs {
  return headers.filter(([name]) => !isLeftOut(name.toLowerCase()));
}
