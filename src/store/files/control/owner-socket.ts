import { chmodSync, mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { OpenDoor, OwnerVerdict } from '../../store.ts';
import { errorCode } from '../disk/private-files.ts';

/** The owner's side: a socket that nobody but its user can reach. */
export type OwnerSocket = {
  /** Takes the socket away; whoever is still connected learns by that that the owner has given the run up. */
  readonly close: () => void;
};

/**
 * Listens at a path, which is there only once it does: whoever finds it and is refused knows that the owner is gone. What is left
 * there by another is replaced. Rejects where the file system has no sockets.
 */
export async function listenAt(path: string, knocked: () => void): Promise<OwnerSocket> {
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
  rmSync(draft, { force: true });
  try {
    await withShortPath(draft, (short) => listening(server, short));
    // The directory lets nobody else in anyway.
    chmodSync(draft, 0o600);
    renameSync(draft, path);
  } catch (error) {
    server.close();
    rmSync(draft, { force: true });
    throw error;
  }
  return {
    close: () => {
      server.close();
      rmSync(path, { force: true });
      for (const visitor of visitors) visitor.destroy();
    },
  };
}

/** Connects to the owner at a path; null when nobody listens there. */
export async function knockAt(path: string): Promise<OpenDoor | null> {
  const socket = await withShortPath(path, connected);
  if (socket === null) return null;
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.resume();
  return { closed, leave: () => socket.destroy() };
}

/** What a socket says of the owner that listens there, or did: only a refusal says that it is gone. */
export async function askSocket(path: string): Promise<OwnerVerdict> {
  const code = await withShortPath(path, refusalOf);
  if (code === null || code === 'EAGAIN') return 'alive';
  return code === 'ECONNREFUSED' ? 'gone' : 'unknown';
}

/** Null when it connects. */
function refusalOf(path: string): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => {
      socket.destroy();
      resolve(null);
    });
    socket.on('error', (error) => resolve(errorCode(error) ?? ''));
  });
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

function connected(path: string): Promise<Socket | null> {
  return new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(socket));
    socket.on('error', () => resolve(null));
  });
}

/** The address of a socket has room for 108 bytes on Linux, for 104 elsewhere, with a zero at its end. */
const longestPath = 103;

/**
 * Uses a path to a socket, which may be too long for one, by another that is not: through a link in a private directory
 * that is there for this call only. Nobody else has to know the link, since the socket lies where it should.
 */
async function withShortPath<T>(path: string, use: (path: string) => Promise<T>): Promise<T> {
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
