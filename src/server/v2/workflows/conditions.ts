import { entityTag } from '../../reply/send.ts';
import { type ApiRequest, HttpError } from '../../route.ts';

/**
 * Checks a request against the present text of a file. The check throws an `HttpError` 412 for another text. Throws an
 * `HttpError` 428 if the request has no `If-Match`.
 */
export function expectedText({ headers }: Pick<ApiRequest, 'headers'>): (present: string) => void {
  const known = headers['if-match'];
  if (known === undefined) {
    throw new HttpError(428, 'a change needs the header "If-Match"', {
      help: 'send the ETag of GET /api/v2/workflows/{name}/source',
    });
  }
  // The tag of a compressed response is weak, but names the same text.
  const tags = known.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  return (present) => {
    const tag = entityTag(present);
    if (tags.includes('*') || tags.includes(tag)) return;
    throw new HttpError(412, 'the file has changed since it was read', { headers: { ETag: tag } });
  };
}
