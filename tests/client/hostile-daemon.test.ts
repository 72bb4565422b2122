import type { ServerResponse } from 'node:http';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ClientLimits } from '#client/daemon-client.ts';
import { createRemoteService, openDaemon } from '#client/remote-service.ts';
import type { RunService, Service } from '#service/service.ts';
import { closedPort, httpServer, tcpServer } from '../support/http-server.ts';

const limits: Partial<ClientLimits> = { answerMs: 300, startMs: 300, silenceMs: 300, answerBytes: 100_000, pauseMs: 5 };

/** What there is at an address. */
function access(url: string, own: Partial<ClientLimits> = {}): RunService {
  return serviceAt(url, own).runs;
}

function serviceAt(url: string, own: Partial<ClientLimits>): Service {
  const settings = { url, source: 'WF_SERVER', authorization: 'Bearer s3cret', ca: null };
  const daemon = openDaemon(settings, () => {}, { ...limits, ...own });
  onTestFinished(() => daemon.close());
  return createRemoteService(daemon);
}

async function answering(
  answer: (response: ServerResponse) => void,
  own: Partial<ClientLimits> = {},
): Promise<RunService> {
  return access((await httpServer((_, response) => answer(response))).url, own);
}

/** For answers that are not late, however busy the machine is. */
const patient: Partial<ClientLimits> = { answerMs: 30_000, startMs: 30_000, silenceMs: 30_000 };

const run = { runId: 'one', workflow: 'w', status: 'succeeded', createdAt: '2026-03-01T04:00:00.000Z', steps: [] };
const json =
  (value: unknown, status = 200) =>
  (response: ServerResponse) =>
    void response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(value));

describe('an invalid answer is reported', () => {
  test.each<[string, (response: ServerResponse) => void, string]>([
    ['no JSON', (response) => response.end('<html>'), 'it is not JSON'],
    ['nothing', (response) => response.end(), 'it is not JSON'],
    ['no UTF-8', (response) => response.end(Buffer.from([0x22, 0xff, 0x22])), 'it is not UTF-8'],
    ['a list', json([]), 'it is not an object'],
    ['null', json(null), 'it is not an object'],
    ['a field that is missing', json({ ...run, workflow: undefined }), 'there is no "workflow" in it'],
    ['a field of another kind', json({ ...run, runId: 7 }), 'there is no "runId" in it'],
    ['no time', json({ ...run, createdAt: 'soon' }), 'its "createdAt" is not a time'],
    ['an unknown status', json({ ...run, status: 'paused' }), 'this version does not know the status "paused"'],
    ['a step without a name', json({ ...run, steps: [{ status: 'pending' }] }), 'there is no "name" in it'],
    ['too much', json({ ...run, more: 'x'.repeat(200_000) }), 'it is larger than 100000 bytes'],
    ['too much without an end', pour, 'it is larger than 100000 bytes'],
    ['a way to another place', leadAway, 'it redirects to "http://elsewhere.example/"'],
    ['a status of no use', json({}, 418), 'status 418'],
  ])('%s', async (_, answer, told) => {
    const { find } = await answering(answer, patient);
    await expect(find('one')).rejects.toMatchObject({ code: 'unreachable', message: expect.stringContaining(told) });
  });

  function pour(response: ServerResponse): void {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(10_000)));
    };
    response.on('drain', more);
    more();
  }

  function leadAway(response: ServerResponse): void {
    response.writeHead(302, { Location: 'http://elsewhere.example/' }).end();
  }
});

describe('a daemon that does not answer', () => {
  test('sends nothing', async () => {
    const { find } = await answering(() => {});
    await expect(find('one')).rejects.toMatchObject({
      code: 'unreachable',
      message: expect.stringMatching(/did not answer for 0.3 s$/),
    });
  });

  test('sends an incomplete answer', async () => {
    const { find } = await answering((response) => void response.writeHead(200).write('{'));
    await expect(find('one')).rejects.toMatchObject({
      message: expect.stringMatching(/did not answer for 0.3 s$/),
    });
  });

  test('accepts the connection and sends nothing', async () => {
    const { url } = await tcpServer(() => {});
    await expect(access(url).find('one')).rejects.toMatchObject({ code: 'unreachable' });
  });

  test('closes the connection in the middle of its answer', async () => {
    const { find } = await answering((response) => {
      response.writeHead(200, { 'Content-Length': '100' }).write('{');
      setImmediate(() => response.destroy());
    });
    await expect(find('one')).rejects.toMatchObject({ message: expect.stringMatching(/closed the connection$/) });
  });

  test('is not running', async () => {
    const url = `http://127.0.0.1:${await closedPort()}`;
    await expect(access(url).find('one')).rejects.toMatchObject({ message: `no program listens at ${url}` });
  });

  test('speaks another protocol', async () => {
    const { url } = await tcpServer((socket) => socket.end('SSH-2.0-OpenSSH_9.2\r\n'));
    await expect(access(url).find('one')).rejects.toMatchObject({
      message: expect.stringContaining('does not speak HTTP'),
    });
  });
});

describe('an error of the daemon is reported like a local one', () => {
  const problem = (status: number, body: object) => json({ type: 'about:blank', title: 'T', status, ...body }, status);

  test.each<[string, (response: ServerResponse) => void, object]>([
    [
      'a word it knows',
      problem(404, { code: 'not-found', detail: 'no run', help: 'look' }),
      { code: 'not-found', message: 'no run', help: 'look' },
    ],
    [
      'a path that it does not have',
      problem(404, { code: 'unknown-path', detail: 'there is nothing at this path' }),
      { code: 'unreachable', help: expect.stringMatching(/^check that .* points to the base URL of a wf daemon/) },
    ],
    ['a parameter', problem(400, { code: 'usage', detail: 'bad' }), { code: 'usage', message: 'bad', help: null }],
    ['too many', problem(429, { code: 'busy', detail: 'full' }), { code: 'busy', message: 'full' }],
    [
      'a login',
      problem(401, { code: 'login-needed', detail: 'x' }),
      { code: 'denied', help: expect.stringContaining('WF_TOKEN') },
    ],
    ['a login that may not', problem(403, { code: 'forbidden', detail: 'looking only' }), { code: 'denied' }],
    [
      'a bug there',
      problem(500, { code: 'bug', detail: 'this is a bug' }),
      { code: 'unreachable', message: expect.stringContaining('this is a bug') },
    ],
    [
      'a page of a proxy',
      (response) => void response.writeHead(502).end('<h1>Bad Gateway</h1>'),
      { code: 'unreachable', message: expect.stringContaining('status 502') },
    ],
    ['garbage with a problem', json({ code: 7, detail: [], help: {} }, 404), { code: 'unreachable' }],
    [
      'another name',
      problem(421, { code: 'wrong-host', detail: 'not called x' }),
      { help: expect.stringContaining('--allowed-hosts') },
    ],
    [
      'diagnostics',
      problem(422, {
        code: 'invalid-workflow',
        detail: '"w" is not a valid workflow',
        diagnostics: [{ severity: 'error', code: 'c', message: 'm', file: '/w.yaml', line: 2, column: 3 }, 'x'],
      }),
      {
        code: 'invalid-workflow',
        diagnostics: [
          {
            severity: 'error',
            code: 'c',
            message: 'm',
            position: { file: '/w.yaml', start: { line: 2, column: 3 }, end: { line: 2, column: 3 } },
          },
        ],
      },
    ],
  ])('%s', async (_, answer, told) => {
    const { mark } = access(
      (await httpServer(({ method }, response) => (method === 'GET' ? json(run) : answer)(response))).url,
    );
    await expect(mark('one', { step: 'a', status: 'failed', by: 'me' })).rejects.toMatchObject(told);
  });
});

test('fields of a newer daemon are ignored, and optional ones of an older daemon may be missing', async () => {
  const { find } = await answering(
    json({ ...run, mood: 'fine', steps: [{ name: 'a', status: 'succeeded', mood: 1 }] }),
  );
  const step = { name: 'a', status: 'succeeded', reason: null, error: null, attempts: 0, exitCode: null, signal: null };
  const times = { startedAt: null, finishedAt: null, durationMs: null };
  expect(await find('one')).toEqual({
    ...run,
    group: '',
    file: null,
    reason: null,
    error: null,
    trigger: 'api',
    retryOf: null,
    scheduledFor: null,
    params: [],
    owner: null,
    ...times,
    steps: [{ ...step, ...times, outputs: {}, log: null }],
    handlers: [],
    warnings: [],
  });
});

test('a connection closed by the daemon in the meantime is not an error', async () => {
  const known = new WeakSet<object>();
  const server = await httpServer((_, response) => {
    if (response.socket === null || known.has(response.socket)) return void response.destroy();
    known.add(response.socket);
    json(run)(response);
  });
  const { find } = access(server.url);
  for (let i = 0; i < 3; i += 1) expect(await find('one')).toMatchObject({ runId: 'one' });
  expect(server.received).toHaveLength(5);
  expect(server.received.every(({ headers }) => headers.authorization === 'Bearer s3cret')).toBe(true);
});

test('pages that refer to each other are not followed endlessly', async () => {
  const server = await httpServer(({ url }, response) =>
    json(url.includes('/workflows') ? { workflows: [], nextCursor: 'again' } : { runs: [run], nextCursor: 'again' })(
      response,
    ),
  );
  const { runs, workflows } = serviceAt(server.url, {});
  const filter = { workflow: null, statuses: null, from: null, to: null };
  expect(await runs.list({ ...filter, limit: 2 })).toHaveLength(2);
  await expect(runs.list({ ...filter, limit: 3 })).rejects.toThrow('its pages repeat');
  await expect(workflows.list({ wholeRuns: false })).rejects.toThrow('its pages repeat');
});
