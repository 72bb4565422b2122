import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { errorCode } from '#system/errors.ts';
import { removeFile } from '#system/files.ts';
import type { OpenDoor, OwnerVerdict } from '../../store.ts';

/**
 * Listens at a path, which exists only while it listens: if a connection to an existing path is refused, the owner is
 * gone. A file left by another process is replaced. Resolves to the function that removes the socket; connected processes
 * take the end of the connection as the end of the ownership. Rejects if the file system does not support sockets.
 */
export async function listenAt(path: string, knocked: () => void): Promise<() => void> {
  const visitors = new Set<Socket>();
  const server = createServer((visitor) => {
    visitors.add(visitor);
    visitor.unref();
    visitor.on('close', () => visitors.delete(visitor)).on('error', () => {});
    visitor.resume();
    knocked();
  });
  server.unref();
  const draft = `${path}.new`;
  removeFile(draft);
  try {
    await withShortPath(draft, (short) => listening(server, short));
    // The directory keeps other users out anyway.
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    server.close();
    removeFile(draft);
    throw error;
  }
  return () => {
    server.close();
    removeFile(path);
    for (const visitor of visitors) visitor.destroy();
  };
}

/** Connects to the owner at a path; null if no process listens. */
export async function knockAt(path: string): Promise<OpenDoor | null> {
  const socket = await withShortPath(path, connected);
  if (typeof socket === 'string') return null;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  return { closed, leave: () => socket.destroy() };
}

/** The verdict on the owner that listens, or listened, at a socket: only a refused connection means that it is gone. */
export async function askSocket(path: string): Promise<OwnerVerdict> {
  const socket = await withShortPath(path, connected);
  if (typeof socket !== 'string') socket.destroy();
  if (typeof socket !== 'string' || socket === 'EAGAIN') return 'alive';
  return socket === 'ECONNREFUSED' ? 'gone' : 'unknown';
}

function listening(server: Server, path: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(path, () => {
      server.off('error', reject);
      server.on('error', () => {});
      resolve();
    });
  });
}

/** A connection, or the code of the error that prevented it. */
function connected(path: string): Promise<Socket | string> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.on('error', (error) => resolve(errorCode(error)));
  });
}

/** Maximum length of a socket path in bytes: an address holds 108 on Linux, 104 elsewhere, including a final zero. */
const LONGEST_PATH = 103;

/** Uses a socket by a path that fits an address: by a link in a private directory that exists only during this call. */
async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
  if (Buffer.byteLength(path) <= LONGEST_PATH) return use(path);
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
  const room = LONGEST_PATH - Buffer.byteLength(`/wf-XXXXXX/d/${name}`);
  const parent = Buffer.byteLength(tmpdir()) <= room ? tmpdir() : '/tmp';
  return mkdtempSync(join(parent, 'wf-'));
}
