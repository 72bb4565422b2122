import { readdir, stat } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { isMissing } from './errors.ts';

/** Files to watch: all below `directory` (or `directory` itself, if it is a file) whose absolute path matches. */
export type WatchPattern = {
  /** The start of the search: the part of the pattern before its first wildcard. */
  readonly directory: string;
  readonly matches: (path: string) => boolean;
  /** False if nothing below sub-directories can match. */
  readonly isDeep: boolean;
};

const WILDCARD = /[*?[\]{}]/;

/**
 * Parses a pattern of shells and `.gitignore`: `*` and `?` match within one name and skip names that begin with a dot, `**`
 * matches directories, `[a-z]` and `{a,b}` are alternatives. Without a wildcard it is a file or everything below a directory.
 */
export function watchPattern(text: string, cwd: string): WatchPattern {
  const path = resolve(cwd, text);
  const first = text.search(WILDCARD);
  if (first === -1) {
    return { directory: path, isDeep: true, matches: (found) => found === path || found.startsWith(`${path}/`) };
  }
  // In the names of the directories before them, such as that of the working directory, wildcards are ordinary characters.
  const start = text.lastIndexOf('/', first) + 1;
  const directory = resolve(cwd, text.slice(0, start));
  const above = directory.replace(/\/$/, '');
  const parts = resolve('/', text.slice(start)).split('/').slice(1);
  const pattern = new RegExp(`^${parts.map(partSource).join('')}$`);
  const isDeep = parts.length > 1 || parts[0] === '**';
  return {
    directory,
    isDeep,
    matches: (found) => found.startsWith(`${above}/`) && pattern.test(found.slice(above.length)),
  };
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

/** A pattern that matches more paths is refused. */
export const MOST_PATHS = 10_000;

/**
 * The paths that match a pattern of the kind of `watchPattern`, in order of their names, as absolute as the pattern is. Like
 * a shell, it follows links except below `**`. A directory that does not exist has no files. Returns null if there are more
 * than `MOST_PATHS`; throws the errors of reading a directory.
 */
export async function matchingPaths(pattern: string, cwd: string): Promise<readonly string[] | null> {
  // `**` at the end is everything below.
  const [first = '', ...parts] = pattern
    .replace(/\/+$/, '')
    .replace(/(^|\/)\*\*$/, '$1**/*')
    .split('/');
  const isAbsolute = first === '' && parts.length > 0;
  let found = isAbsolute ? ['/'] : [''];
  for (const part of isAbsolute ? parts : [first, ...parts]) {
    const next = new Set<string>();
    for (const path of found) {
      for (const each of await stepInto(path, part, cwd)) next.add(each);
      if (next.size > MOST_PATHS) return null;
    }
    found = [...next];
  }
  return found.filter((path) => path !== '').sort();
}

/** The paths that one part of a pattern leads to. */
async function stepInto(path: string, part: string, cwd: string): Promise<readonly string[]> {
  if (part === '' || part === '.') return [path];
  if (part === '**') return [path, ...(await directoriesBelow(path, cwd))];
  if (!WILDCARD.test(part)) return (await exists(resolve(cwd, path, part))) ? [join(path, part)] : [];
  const pattern = new RegExp(`^${nameSource(part)}$`);
  return (await entriesOf(path, cwd)).filter(({ name }) => pattern.test(name)).map(({ name }) => join(path, name));
}

async function directoriesBelow(path: string, cwd: string): Promise<string[]> {
  const own = (await entriesOf(path, cwd)).filter((entry) => entry.isDirectory() && !entry.name.startsWith('.'));
  const found: string[] = [];
  for (const { name } of own) {
    const directory = join(path, name);
    found.push(directory, ...(await directoriesBelow(directory, cwd)));
    if (found.length > MOST_PATHS) break;
  }
  return found;
}

async function entriesOf(path: string, cwd: string) {
  try {
    return await readdir(resolve(cwd, path), { withFileTypes: true });
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}

/** One part of a path with the slash before it; `**` also matches zero directories. */
function partSource(part: string, index: number, parts: readonly string[]): string {
  if (part !== '**') return `/${nameSource(part)}`;
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
