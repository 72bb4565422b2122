import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { HttpError } from '../reply/http-error.ts';

/**
 * Refuses what a browser sends for a page that is not the server's own, and that no setting allows (an `HttpError` 403): such
 * a page could otherwise start runs with the login that the browser remembers. Programs that are no browsers send neither
 * header and are not concerned. Answers the page's origin when a setting allows it, else null.
 *
 * A link from elsewhere that opens a page here is let through: its sender learns nothing and changes nothing.
 */
export function checkOrigin({ method, headers }: IncomingMessage, allowed: readonly string[]): string | null {
  const { origin } = headers;
  if (origin !== undefined && allowed.includes(origin)) return origin;
  if (isOwn(headers) || isLink(method, headers)) return null;
  throw new HttpError(403, 'this request was made by a page of another site', {
    help: 'the origins whose pages may use the API are set as "corsOrigins"',
  });
}

/**
 * `Sec-Fetch-Site` is set by the browser alone and takes the kind of the asker into account: an extension with a permission
 * for this address is `none`. Another port of the same machine is only the same site, not the same origin. Browsers leave
 * it out where neither TLS nor this machine is involved; then `Origin` has to tell.
 */
function isOwn(headers: IncomingHttpHeaders): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined) return site === 'same-origin' || site === 'none';
  if (headers.origin === undefined) return true;
  const [, host] = /^https?:\/\/(.+)$/.exec(headers.origin.toLowerCase()) ?? [];
  return host !== undefined && host === headers.host?.toLowerCase();
}

function isLink(method: string | undefined, headers: IncomingHttpHeaders): boolean {
  const isPage = headers['sec-fetch-mode'] === 'navigate' && headers['sec-fetch-dest'] === 'document';
  return isPage && headers.origin === undefined && (method === 'GET' || method === 'HEAD');
}
