/** Encodes the value of the header `Authorization` for the scheme Basic (RFC 7617). The user name has no colon. */
export function basicHeader({ username, password }: { username: string; password: string }): string {
  return `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`;
}

/** Decodes what follows the scheme in such a header: `name:password` in base64. `password`: null without a colon. */
export function decodePair(encoded: string): { username: string; password: string | null } {
  const pair = Buffer.from(encoded, 'base64').toString();
  const colon = pair.indexOf(':');
  if (colon === -1) return { username: pair, password: null };
  return { username: pair.slice(0, colon), password: pair.slice(colon + 1) };
}
