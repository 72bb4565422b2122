import { describe, expect, test } from 'vitest';
import { deliver } from '#notifications/messages.ts';
import { closedPort, httpServer, httpsServer, tcpServer } from '../support/http-server.ts';

/** Delivers a message; returns the problem and the waits between the tries, which take no time. */
async function delivered(url: string, abort = new AbortController()) {
  const waits: number[] = [];
  const pause = (ms: number) => Promise.resolve(void waits.push(ms));
  const message = { method: 'POST', url: new URL(url), headers: [['x-a', '1']] as const, body: '{}' };
  const problem = await deliver(message, { env: {}, timeoutMs: 10_000, signal: abort.signal, pause });
  return { problem, waits };
}

/** A server that answers with these statuses in turn. */
function answering(...statuses: readonly number[]) {
  let asked = 0;
  return httpServer((_, response) => {
    const status = statuses[asked++] ?? 500;
    response.writeHead(status, status === 429 ? { 'Retry-After': asked === 1 ? '7' : '3600' } : {}).end('no');
  });
}

describe('a delivery', () => {
  test('is accepted by any status from 200 to 299', async () => {
    const server = await answering(204);
    expect(await delivered(`${server.url}/hook`)).toEqual({ problem: null, waits: [] });
    expect(server.received).toMatchObject([{ method: 'POST', url: '/hook', headers: { 'x-a': '1' }, body: '{}' }]);
  });

  test('is tried three times if the server fails', async () => {
    const server = await answering(500, 503, 502, 200);
    expect(await delivered(server.url)).toEqual({ problem: '502 Bad Gateway', waits: [1000, 2000] });
    expect(server.received).toHaveLength(3);
  });

  test('waits as long as a busy server asks, but at most 10 seconds', async () => {
    const server = await answering(429, 429, 200);
    expect(await delivered(server.url)).toEqual({ problem: null, waits: [7000, 10_000] });
  });

  test('is tried once if the server rejects it', async () => {
    const server = await answering(404, 200);
    expect(await delivered(server.url)).toEqual({ problem: '404 Not Found', waits: [] });
    expect(server.received).toHaveLength(1);
  });

  test('follows no redirect', async () => {
    const server = await httpServer((_, response) => response.writeHead(302, { Location: '/other' }).end());
    expect(await delivered(server.url)).toEqual({ problem: '302 Found (redirects are not followed)', waits: [] });
    expect(server.received).toHaveLength(1);
  });

  test('is retried after a lost connection', async () => {
    const server = await tcpServer((socket) => socket.once('data', () => socket.destroy()));
    const problem = 'the connection was closed before the response was complete';
    expect(await delivered(server.url)).toEqual({ problem, waits: [1000, 2000] });
    expect(await delivered(`http://127.0.0.1:${await closedPort()}`)).toEqual({
      problem: 'connection refused',
      waits: [1000, 2000],
    });
  });

  test('is accepted by its status, whatever happens to the body', async () => {
    const cut = await httpServer((_, response) => {
      response.writeHead(200, { 'Content-Length': 100 });
      response.write('half', () => response.destroy());
    });
    expect(await delivered(cut.url)).toEqual({ problem: null, waits: [] });
    expect(cut.received).toHaveLength(1);
    const long = await httpServer((_, response) => response.end(Buffer.alloc(11 * 1024 * 1024)));
    expect(await delivered(long.url)).toEqual({ problem: null, waits: [] });
    expect(long.received).toHaveLength(1);
  });

  test('to a server whose certificate is not trusted advises only what a notification has', async () => {
    const server = await httpsServer((_, response) => response.end());
    const { problem } = await delivered(server.url);
    const advice = 'set NODE_EXTRA_CA_CERTS to a file with the certificate to trust';
    expect(problem).toBe(`its certificate is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT); ${advice}`);
  });

  test('stops with the signal', async () => {
    const abort = new AbortController();
    const server = await httpServer(() => abort.abort());
    const { problem, waits } = await delivered(server.url, abort);
    expect(problem).not.toBeNull();
    expect(waits).toEqual([]);
  });
});
