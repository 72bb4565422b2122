import { mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';

/** The address of a socket has room for 108 bytes on Linux, for 104 elsewhere, with a zero at its end. */
const longestPath = 103;

/**
 * Uses a path to a socket, which may be too long for one, by another that is not: through a link in a private directory
 * that is there for this call only. Nobody else has to know the link, since the socket lies where it should.
 */
export async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= longestPath) return use(path);
  const short = makeShortDirectory(basename(path));
  try {
    const link = join(short, 'd');
    symlinkSync(dirname(path), link);
    return await use(join(link, basename(path)));
  } finally {
    rmSync(short, { recursive: true, force: true });
  }
}

function makeShortDirectory(name: string): string {
  const room = longestPath - Buffer.byteLength(`/wf-XXXXXX/d/${name}`);
  const parent = Buffer.byteLength(tmpdir()) <= room ? tmpdir() : '/tmp';
  return mkdtempSync(join(parent, 'wf-'));
}
