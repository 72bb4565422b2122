import type { StopRequest } from '../../store.ts';
import { isOnLocalDisk } from '../disk/local-disk.ts';
import { ownerSocketPath } from './owner.ts';
import type { OwnerSocket } from './owner-socket.ts';
import { readStop } from './stop-file.ts';

/** How often the owner looks for a request where a socket does not reach everybody who may write one. */
const lookMs = 500;

/** The owner's ear for requests to stop its run. */
export type StopListener = {
  readonly listen: (listener: (request: StopRequest) => void) => Promise<void>;
  readonly close: () => void;
};

/**
 * Tells of each request in a run's directory once. Whoever stops a run writes the request before it knocks, and this listens
 * before it reads, so that one of the two always sees the other. What sockets need is loaded only here: most runs are over
 * before.
 */
export function createStopListener(directory: string, ownerPath: string): StopListener {
  let socket: OwnerSocket | null = null;
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;

  const open = async (look: () => void) => {
    try {
      const { listenAt } = await import('./owner-socket.ts');
      socket = await listenAt(ownerSocketPath(ownerPath), look);
    } catch {}
    // Another machine that sees the same files has no way to the socket.
    if (socket === null || !isOnLocalDisk(directory)) timer = setInterval(look, lookMs).unref();
    if (isClosed) close();
  };
  const close = () => {
    isClosed = true;
    socket?.close();
    if (timer !== null) clearInterval(timer);
  };

  return {
    listen: async (listener) => {
      let told = '';
      const look = () => {
        const request = isClosed ? null : readStop(directory);
        const text = JSON.stringify(request);
        if (request === null || text === told) return;
        told = text;
        listener(request);
      };
      if (isClosed) return;
      await open(look);
      look();
    },
    close,
  };
}
