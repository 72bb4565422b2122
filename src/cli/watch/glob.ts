import { basename, dirname, resolve } from 'node:path';

/** Files to watch: all below `directory` (or `directory` itself, if it is a file) whose absolute path matches. */
export type WatchPattern = {
  /** The start of the search: the part of the pattern before its first wildcard. */
  readonly directory: string;
  readonly matches: (path: string) => boolean;
  /** False if nothing below sub-directories can match. */
  readonly isDeep: boolean;
};

const wildcard = /[*?[\]{}]/;

/**
 * Parses a pattern of shells and `.gitignore`: `*` and `?` match within one name and skip names that begin with a dot, `**`
 * matches directories, `[a-z]` and `{a,b}` are alternatives. Without a wildcard it is a file or everything below a directory.
 */
export function watchPattern(text: string, cwd: string): WatchPattern {
  const path = resolve(cwd, text);
  if (!wildcard.test(text)) {
    return { directory: path, isDeep: true, matches: (found) => found === path || found.startsWith(`${path}/`) };
  }
  const parts = path.split('/');
  const first = parts.findIndex((part) => wildcard.test(part));
  const pattern = new RegExp(`^${parts.map(partSource).join('')}$`);
  const isDeep = parts.length - first > 1 || parts[first] === '**';
  const directory = parts.slice(0, first).join('/') || '/';
  return { directory, isDeep, matches: (found) => pattern.test(found) };
}

/** A pattern for the files beside a file that have one of these extensions. */
export function besidePattern(file: string, extensions: readonly string[]): WatchPattern {
  const directory = dirname(file);
  return {
    directory,
    isDeep: false,
    matches: (found) => dirname(found) === directory && extensions.some((end) => basename(found).endsWith(end)),
  };
}

/** One part of a path with the slash before it; `**` also matches zero directories. */
function partSource(part: string, index: number, parts: readonly string[]): string {
  if (part !== '**') return (index === 0 ? '' : '/') + nameSource(part);
  return index === parts.length - 1 ? '(?:/(?!\\.)[^/]+)+' : '(?:/(?!\\.)[^/]+)*';
}

function nameSource(part: string): string {
  const start = /^[*?[]/.test(part) ? '(?!\\.)' : '';
  return start + part.replace(/\*+|\?|\[[!^]?[^\]]+\]|\{[^{}]*\}|[\s\S]/g, tokenSource);
}

function tokenSource(token: string): string {
  if (token.startsWith('*')) return '[^/]*';
  if (token === '?') return '[^/]';
  if (token.length > 2 && token.startsWith('['))
    return `[${token.slice(1, -1).replace(/^!/, '^').replace(/\\/g, '\\\\')}]`;
  if (token.length > 1) return `(?:${token.slice(1, -1).split(',').map(nameSource).join('|')})`;
  return token.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
}
