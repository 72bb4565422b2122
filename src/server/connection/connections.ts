import type { Server } from 'node:http';
import type { Socket } from 'node:net';
import { rawReply } from '../reply/raw-reply.ts';
import type { Limits } from './limits.ts';

const patienceMs = 1000;

/**
 * Keeps the number of connections bounded: those beyond it are told so at once, unread, and those beyond that are cut off.
 * Node's own limit cuts off only, which a client cannot tell from a crash. `isPlain`: nothing is said where TLS is spoken.
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
    // What it sends is read away: unread bytes would make the system reset the connection before the answer is seen.
    socket.resume();
    socket.end(rawReply(503, 'too many connections', { 'Retry-After': '1' }));
  });
}
