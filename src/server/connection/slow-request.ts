import type { IncomingMessage, Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';
import type { Socket } from 'node:net';

/**
 * Returns a function that calls `refuse` for a socket whose request took too long, unless the rest of the request is in the
 * buffers of the system. After the event loop was blocked, or the machine slept, Node checks the times of requests before
 * it reads them, and would refuse complete ones.
 */
export function slowRequests(server: Server | TlsServer): (socket: Socket, refuse: () => void) => void {
  const requests = new WeakMap<Socket, IncomingMessage>();
  for (const event of ['request', 'checkContinue'] as const)
    server.prependListener(event, (request: IncomingMessage) => requests.set(request.socket, request));
  return (socket, refuse) => {
    const before = requests.get(socket);
    const wasComplete = before?.complete === true;
    // The loop reads all sockets before it calls this.
    setImmediate(() => {
      const request = requests.get(socket);
      const isNew = request !== before || !wasComplete;
      if (!(isNew && request?.complete === true) && socket.writable) refuse();
    });
  };
}
