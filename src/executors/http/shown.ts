/** Names of headers and query parameters whose values are hidden. */
const secretName = /auth|cookie|token|secret|password|passwd|signature|api-?_?key|access-?_?key/i;

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
  return secretName.test(name) ? '***' : value;
}

function shownQuery(search: string): string {
  return search.replace(/([?&])([^=&]*)=([^&]+)/g, (whole, sign: string, name: string) =>
    secretName.test(name) ? `${sign}${name}=***` : whole,
  );
}
