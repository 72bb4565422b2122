import type { OwnerListener } from '../../store.ts';
import { isOnLocalDisk } from '../disk/local-disk.ts';
import { errorCode } from '../disk/private-files.ts';
import { ownerSocketPath } from './owner.ts';
import type { OwnerSocket } from './owner-socket.ts';
import { readStop, takeAnswers } from './request-file.ts';

/**
 * How often the owner polls for a request if a socket does not reach every process that may write one, and how long it
 * waits after an error.
 */
const lookMs = 500;

/** Receives the requests of other processes to the owner of a run. */
export type RequestListener = {
  readonly listen: (listener: OwnerListener) => Promise<void>;
  readonly close: () => void;
};

/**
 * Reports each request in a run's directory once. Another process writes its request before it connects,
 * and this function listens before it reads, so that no request is missed. The code for sockets is loaded only here:
 * most runs finish before.
 */
export function createRequestListener(directory: string, ownerPath: string): RequestListener {
  let socket: OwnerSocket | null = null;
  let timer: NodeJS.Timeout | null = null;
  let retry: NodeJS.Timeout | null = null;
  let isClosed = false;

  const open = async (look: () => void) => {
    try {
      const { listenAt } = await import('./owner-socket.ts');
      socket = await listenAt(ownerSocketPath(ownerPath), look);
    } catch {}
    // A process on another machine with the same files cannot reach the socket.
    if (socket === null || !isOnLocalDisk(directory)) timer = setInterval(look, lookMs).unref();
    if (isClosed) close();
  };
  const close = () => {
    isClosed = true;
    socket?.close();
    if (timer !== null) clearInterval(timer);
    if (retry !== null) clearTimeout(retry);
  };

  return {
    listen: async (listener) => {
      let delivered = '';
      const deliver = () => {
        takeAnswers(directory, listener.answer);
        const request = readStop(directory);
        const text = JSON.stringify(request);
        if (request === null || text === delivered) return;
        delivered = text;
        listener.stop(request);
      };
      const look = () => {
        if (isClosed) return;
        try {
          deliver();
        } catch (error) {
          if (errorCode(error) === null) throw error;
          // A passing shortage, such as too many open files. The process that wrote the request need not connect again.
          retry ??= setTimeout(() => {
            retry = null;
            look();
          }, lookMs).unref();
        }
      };
      if (isClosed) return;
      await open(look);
      look();
    },
    close,
  };
}
