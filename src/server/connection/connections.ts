import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { rawReply } from '../reply/raw-reply.ts';
import type { Limits } from './limits.ts';

const patienceMs = 1000;

/**
 * Limits the number of connections: surplus connections get an error response unread, and beyond a second limit they are
 * closed. Node's own limit only closes, which looks like a crash to clients. `isPlain`: without TLS; only then is a
 * response sent.
 */
export function limitConnections(server: Server, limits: Limits, isPlain: boolean): void {
  const accept = server.listeners('connection') as ((socket: Socket) => void)[];
  server.removeAllListeners('connection');
  let accepted = 0;
  let refused = 0;
  server.on('connection', (socket: Socket) => {
    if (accepted < limits.connections) {
      accepted += 1;
      socket.once('close', () => {
        accepted -= 1;
      });
      for (const listener of accept) listener.call(server, socket);
      return;
    }
    socket.on('error', () => socket.destroy());
    if (!isPlain || refused >= limits.refusedConnections) return void socket.destroy();
    refused += 1;
    const timer = setTimeout(() => socket.destroy(), patienceMs);
    socket.once('close', () => {
      refused -= 1;
      clearTimeout(timer);
    });
    // Discard the input: unread bytes would make the system reset the connection before the client reads the response.
    socket.resume();
    socket.end(rawReply(503, 'too many connections', { 'Retry-After': '1' }));
  });
}
