import type { Stats } from 'node:fs';

const WRITABLE_BY_ALL = 0o002;

/**
 * Why a file or directory cannot be trusted: another user owns it, or every user can write to it. Null if
 * it can. A group may write: with umask 002, the user's own group can. Root is trusted, and under `sudo` also the user
 * who called it.
 */
export function whyUntrusted(
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  env: { readonly [name: string]: string | undefined },
): string | null {
  const own = process.getuid?.();
  const isTrusted = own === undefined || uid === own || uid === 0 || (own === 0 && String(uid) === env['SUDO_UID']);
  if (!isTrusted) return 'it belongs to another user';
  return own !== undefined && (mode & WRITABLE_BY_ALL) !== 0 ? 'every user can change it' : null;
}
