import type { IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import { clientFinder } from '#server/access/auth.ts';

test.each([
  { trusted: [], peer: '192.0.2.1', forwarded: '203.0.113.7', client: '192.0.2.1' },
  { trusted: ['192.0.2.1'], peer: '192.0.2.1', forwarded: '203.0.113.7', client: '203.0.113.7' },
  { trusted: ['192.0.2.1'], peer: '192.0.2.2', forwarded: '203.0.113.7', client: '192.0.2.2' },
  { trusted: ['192.0.2.1'], peer: '192.0.2.1', forwarded: undefined, client: '192.0.2.1' },
  { trusted: ['192.0.2.1'], peer: '192.0.2.1', forwarded: 'unknown', client: '192.0.2.1' },
  { trusted: ['192.0.2.0/24'], peer: '192.0.2.1', forwarded: '1.1.1.1, 203.0.113.7, 192.0.2.9', client: '203.0.113.7' },
  { trusted: ['127.0.0.1'], peer: '::ffff:127.0.0.1', forwarded: '203.0.113.7:4711', client: '203.0.113.7' },
  { trusted: ['fd00::/8', '::1'], peer: '::1', forwarded: '2001:db8::1, fd00::5', client: '2001:db8::1' },
  { trusted: ['::1'], peer: '::1', forwarded: '[2001:db8::1]:443', client: '2001:db8::1' },
  { trusted: ['0.0.0.0/0'], peer: '192.0.2.1', forwarded: '203.0.113.7', client: '203.0.113.7' },
])('the client of $peer with "$forwarded" and trusted $trusted is $client', ({ trusted, peer, forwarded, client }) => {
  const request = { socket: { remoteAddress: peer }, headers: { 'x-forwarded-for': forwarded } };
  expect(clientFinder(trusted)(request as unknown as IncomingMessage).address).toBe(client);
});

test.each([
  { socket: { remoteAddress: '192.0.2.1' }, protocol: 'https', isSecure: false },
  { socket: { remoteAddress: '10.0.0.1' }, protocol: 'https', isSecure: true },
  { socket: { remoteAddress: '10.0.0.1' }, protocol: 'HTTPS, http', isSecure: true },
  { socket: { remoteAddress: '10.0.0.1' }, protocol: 'http', isSecure: false },
  { socket: { remoteAddress: '10.0.0.1' }, protocol: undefined, isSecure: false },
  { socket: { remoteAddress: '192.0.2.1', encrypted: true }, protocol: 'http', isSecure: true },
])('with "$protocol" from $socket the client uses TLS: $isSecure', ({ socket, protocol, isSecure }) => {
  const request = { socket, headers: { 'x-forwarded-proto': protocol } };
  expect(clientFinder(['10.0.0.0/8'])(request as unknown as IncomingMessage).isSecure).toBe(isSecure);
});
