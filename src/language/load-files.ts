import { closeSync, openSync, readdirSync, readSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, relative, resolve } from 'node:path';
import { messageOf, WfError } from '#system/errors.ts';
import { openRegular } from '#system/regular-file.ts';
import { systemProblem, systemReason } from '#system/system-problem.ts';
import { didYouMean, nearNames } from './near-names.ts';
import type { FoundSchema } from './param-schema/read-param-schema.ts';
import { type ByteLimit, TooManyBytes } from './read/byte-limit.ts';
import { decode, LARGEST_FILE } from './read/decode.ts';
import type { FoundImport } from './read/imports.ts';

/** Maximum size of a file with a JSON Schema, in bytes. */
const LARGEST_SCHEMA = 64 * 1024;
const EXTENSIONS = ['.yaml', '.yml'];

/** The data of the root file for the search for imports. */
type Roots = {
  readonly dir: string;
  readonly realPath: string;
  readonly realDir: string;
  /** Decoded files by their real paths: a file imported several times is read once. */
  readonly decoded: Map<string, ReturnType<typeof decode>>;
  readonly count: ByteLimit;
};

/** Counts the bytes of a file and returns them. Throws `TooManyBytes`. */
export function counted(content: Uint8Array, count: ByteLimit): Uint8Array {
  count(content);
  return content;
}

/** Searches for an imported file beside the importing file; a file outside the root's directory is not opened. */
export function findImport(text: string, from: string, roots: Roots): FoundImport {
  const { dir, realPath, realDir } = roots;
  const beside = from === realPath ? dir : dirname(from);
  const wanted = resolve(beside, text);
  const candidates = /\.ya?ml$/i.test(wanted) ? [wanted] : EXTENSIONS.map((ext) => `${wanted}${ext}`);
  for (const candidate of candidates) {
    try {
      // Building an error for each of thousands of missing imports would take longer than everything else.
      if (statSync(candidate, { throwIfNoEntry: false }) === undefined) continue;
    } catch {
      // The error is reported where the file is opened.
    }
    const found = openInside(candidate, roots);
    if (found.kind !== 'missing') return found;
  }
  if (!isInside(wanted, dir) && !isInside(wanted, realDir)) return { kind: 'outside' };
  if (isDirectory(wanted)) return { kind: 'unreadable', why: 'it is a directory, not a workflow file' };
  return { kind: 'missing', near: () => didYouMean(filesLike(wanted)) };
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}

/** Opens and decodes a file below the root's directory. */
export function openInside(file: string, { realDir, decoded, count }: Omit<Roots, 'dir' | 'realPath'>): FoundImport {
  try {
    const path = realpathSync(file);
    if (!isInside(path, realDir)) return { kind: 'outside' };
    if (!statSync(path).isFile()) return { kind: 'unreadable', why: 'it is not a file' };
    const content = decoded.get(path) ?? decode(path, counted(readFile(path), count));
    decoded.set(path, content);
    return { kind: 'file', path, ...content };
  } catch (error) {
    if (error instanceof TooManyBytes || (error instanceof WfError && error.code === 'storage')) throw error;
    if (!isMissing(error)) return { kind: 'unreadable', why: reason(error) };
    return { kind: 'missing', near: () => '' };
  }
}

/** Reads the schema that `params` names; a file outside the workflow's directory is not opened. */
export function findSchema(text: string, roots: Omit<Roots, 'realPath'>): FoundSchema {
  if (/^[a-z]+:\/\//i.test(text)) return { why: 'must be a file, not a URL' };
  const wanted = resolve(roots.dir, text);
  const found = openInside(wanted, roots);
  const isOutside = !isInside(wanted, roots.dir) && !isInside(wanted, roots.realDir);
  if (found.kind === 'outside' || isOutside) {
    return { why: "is outside the workflow's directory: put it beside the workflow or below" };
  }
  if (found.kind !== 'file') {
    return { why: found.kind === 'missing' ? 'does not exist' : `cannot be read: ${found.why}` };
  }
  const isLarge = Buffer.byteLength(found.source.text) > LARGEST_SCHEMA;
  return isLarge ? { why: 'is larger than 64 KiB, the limit for schemas' } : found;
}

function isInside(path: string, dir: string): boolean {
  const way = relative(dir, path);
  return way !== '' && !isAbsolute(way) && way !== '..' && !way.startsWith('../');
}

/** Workflow files in the same directory with similar names. */
export function filesLike(path: string): string[] {
  try {
    const names = readdirSync(dirname(path)).filter((name) => EXTENSIONS.some((ext) => name.endsWith(ext)));
    const name = basename(path);
    const bare = name.replace(/\.ya?ml$/i, '');
    const near = nearNames(name, names);
    return near.length > 0
      ? near
      : names.filter((other) => nearNames(bare, [other.replace(/\.ya?ml$/i, '')]).length > 0).slice(0, 3);
  } catch {
    return [];
  }
}

/** The bytes of a file, at most one more than the limit: it may be a pipe that never ends. */
export function readFile(path: string, { mayBePipe } = { mayBePipe: false }): Uint8Array {
  try {
    const fd = mayBePipe ? openSync(path, 'r') : openRegular(path);
    try {
      return readAll(fd, Buffer.allocUnsafe(LARGEST_FILE + 1));
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    // A temporary failure: the file may be readable a little later.
    if (systemProblem(error)?.status !== 503) throw error;
    throw new WfError('storage', `cannot read "${path}": ${systemReason(codeOf(error))}`, { cause: error });
  }
}

function readAll(fd: number, buffer: Buffer): Uint8Array {
  let length = 0;
  while (length < buffer.length) {
    const count = readSync(fd, buffer, length, buffer.length - length, null);
    if (count === 0) break;
    length += count;
  }
  return buffer.subarray(0, length);
}

/** Whether the system found no file at a path. */
export function isMissing(error: unknown): boolean {
  return codeOf(error) === 'ENOENT' || codeOf(error) === 'ENOTDIR';
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

const reasons: { readonly [code: string]: string } = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a directory',
  EACCES: 'permission denied',
  ELOOP: 'its symbolic links form a loop',
  ENXIO: 'it is a socket, not a regular file',
};

/** Why a file cannot be read, in words. */
export function reason(error: unknown): string {
  return reasons[codeOf(error)] ?? messageOf(error);
}
