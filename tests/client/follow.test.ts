import type { ServerResponse } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import type { ClientLimits } from '#client/daemon-client.ts';
import { createRemoteService, openDaemon } from '#client/remote-service.ts';
import type { RunService } from '#service/service.ts';
import fc from '../support/fast-check.ts';
import { httpServer } from '../support/http-server.ts';

const at = '2026-03-01T04:00:00.000Z';
const started = (step: string, attempt = 1) => ({ type: 'step.started', step, attempt, process: null });
const finished = (step: string) => ({
  ...{ type: 'step.finished', step, attempt: 1, status: 'succeeded', reason: null, message: '' },
  ...{ exitCode: 0, signal: null, outputs: {} },
});
const created = { workflow: 'w', group: '', file: null, trigger: 'api', retryOf: null, params: [] };
const events = [
  { type: 'run.created', ...created },
  { type: 'run.started' },
  { type: 'step.scheduled', step: 'a', attempt: 1 },
  started('a'),
  { type: 'of.a.newer.version', step: 'a' },
  { type: 'step.scheduled', step: 'b', attempt: 1 },
  started('b'),
  finished('a'),
  finished('b'),
  { type: 'run.finished', status: 'succeeded', reason: null, message: '' },
].map((event, i) => ({ seq: i + 1, runId: 'one', at, ...event }));

/** How many events there are at first. */
const known = 4;
const logs: Readonly<Record<string, Buffer>> = {
  'a stdout': Buffer.from(Array.from({ length: 200 }, (_, i) => `line ${i} é\n`).join('')),
  'a stderr': Buffer.from('no line end'),
  'b stdout': Buffer.from([0xff, 0x00, 0x0a, 0xc3]),
  'b stderr': Buffer.alloc(0),
};

/** How a daemon answers: where connections break off, null for not at all, and whether it knows what was sent before. */
type Manners = { readonly cut: () => number | null; readonly heedsOffsets?: boolean };

function daemon({ cut, heedsOffsets = true }: Manners) {
  const steps = ['a', 'b'].map((name) => ({ name, status: 'running', attempts: name === 'a' ? 1 : 0 }));
  const run = { runId: 'one', workflow: 'w', status: 'running', createdAt: at, steps };
  return httpServer(({ url, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    if (pathname === '/api/v2/runs/one') return void response.end(JSON.stringify(run));
    if (pathname.endsWith('/events')) {
      const isStored = searchParams.get('follow') === 'false';
      const after = Number(headers['last-event-id'] ?? 0);
      if (after === events.length) return void response.writeHead(204).end();
      const offsets = heedsOffsets ? (searchParams.get('offsets') ?? '[]') : '[]';
      const text = isStored
        ? frames(events.slice(0, known))
        : `${feed(after, JSON.parse(offsets))}event: end\ndata: {}\n\n`;
      return sendCut(response, Buffer.from(`: hello\n\n${text}`), isStored ? null : cut());
    }
    const [, step = ''] = /steps\/(\w+)\/logs$/.exec(pathname) ?? [];
    const log = logs[`${step} ${searchParams.get('stream')}`]?.subarray(Number(searchParams.get('offset'))) ?? '';
    sendCut(response, Buffer.from(log), cut());
  });
}

type Offset = readonly [step: string, attempt: number, stdout: number, stderr: number];

/** The events after a number of them, and the output of attempts between them. */
function feed(after: number, offsets: readonly Offset[]): string {
  const isUnderWay = (step: string) =>
    events.findIndex((event) => 'step' in event && event.step === step && event.type === 'step.finished') >= after &&
    events.findIndex((event) => 'step' in event && event.step === step && event.type === 'step.started') < after;
  const begun = ['a', 'b'].filter(isUnderWay).map((step) => {
    const [, , stdout, stderr] = offsets.find(([listed]) => listed === step) ?? [step, 1, 0, 0];
    return output(step, stdout, stderr);
  });
  const rest = events.slice(after).map((event) => {
    const isStart = event.type === 'step.started' && 'step' in event;
    return `${frames([event])}${isStart ? output(String(event.step), 0, 0) : ''}`;
  });
  return [...begun, ...rest].join('');
}

function frames(told: typeof events): string {
  return told.map((event) => `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('');
}

function output(step: string, stdout: number, stderr: number): string {
  const from = [['stdout', stdout] as const, ['stderr', stderr] as const];
  return from
    .flatMap(([stream, start]) => {
      const log = logs[`${step} ${stream}`] ?? Buffer.alloc(0);
      return Array.from({ length: Math.ceil((log.length - start) / 300) }, (_, i) => {
        const offset = start + i * 300;
        const bytes = log.subarray(offset, offset + 300).toString('base64');
        return `event: output\ndata: ${JSON.stringify({ step, attempt: 1, stream, offset, bytes })}\n\n`;
      });
    })
    .join('');
}

function sendCut(response: ServerResponse, bytes: Buffer, cut: number | null): void {
  response.writeHead(200, { 'Content-Length': bytes.length, 'Content-Type': 'text/event-stream; charset=utf-8' });
  if (cut === null) return void response.end(bytes);
  response.write(bytes.subarray(0, cut), () => response.destroy());
}

function access(url: string, limits: Partial<ClientLimits>): RunService {
  const settings = { url, source: 'WF_SERVER', authorization: null, ca: null };
  const client = openDaemon(settings, () => {}, { pauseMs: 1, longestPauseMs: 1, ...limits });
  onTestFinished(() => client.close());
  return createRemoteService(client).runs;
}

const request = { step: null, attempt: null, stream: null, tail: null, exact: true, follow: true, tell: () => {} };

/** What is read, by step and stream, and in which order the steps ended. */
async function follow(url: string, limits: Partial<ClientLimits> = {}) {
  const read: Record<string, Buffer> = {};
  const ended: string[] = [];
  const { read: readAll } = await access(url, limits).logs('one', request);
  const reader = {
    release: () => ended.push('-'),
    isBehind: () => false,
    caughtUp: async () => {},
    isClosed: () => false,
  };
  const push = ({ step, stream, bytes }: { step: string; stream: string; bytes: Uint8Array }) => {
    read[`${step} ${stream}`] = Buffer.concat([read[`${step} ${stream}`] ?? Buffer.alloc(0), bytes]);
  };
  await readAll({ ...reader, push, end: (step) => ended.push(step) }, new AbortController().signal);
  return { read: { 'b stderr': Buffer.alloc(0), ...read }, ended };
}

test('a running run is read completely', async () => {
  const { url } = await daemon({ cut: () => null });
  expect(await follow(url)).toEqual({ read: logs, ended: ['-', 'a', 'b'] });
});

test('every byte is read once, wherever connections break', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.nat({ max: 4000 }), { maxLength: 12 }), fc.boolean(), async (cuts, heedsOffsets) => {
      const left = [...cuts];
      const { url } = await daemon({ cut: () => left.shift() ?? null, heedsOffsets });
      expect(await follow(url)).toEqual({ read: logs, ended: ['-', 'a', 'b'] });
    }),
    { numRuns: 60 },
  ));

test.each([
  [404, { code: 'not-found', detail: 'it is gone' }, { code: 'not-found', message: 'it is gone' }],
  [401, {}, { code: 'denied' }],
])('a daemon that responds with %i after its return is not asked again', async (status, problem, told) => {
  const good = await daemon({ cut: () => null });
  const server = await httpServer(({ url, headers }, response) => {
    if (url.includes('output=')) return void response.writeHead(status).end(JSON.stringify(problem));
    const asked = { headers: headers as Record<string, string> };
    void fetch(`${good.url}${url}`, asked).then(async (answer) => {
      response.writeHead(200, { 'Content-Type': answer.headers.get('content-type') ?? '' });
      response.end(Buffer.from(await answer.arrayBuffer()));
    });
  });
  await expect(follow(server.url)).rejects.toMatchObject(told);
});

test.each([
  ['is away', (response: ServerResponse) => void response.destroy()],
  ['is another program', (response: ServerResponse) => void response.end('<html>')],
])('a daemon that %s for too long is abandoned', async (_, answer) => {
  const { url } = await httpServer(({ url: path }, response) => {
    if (path.includes('output=')) return answer(response);
    const run = { runId: 'one', workflow: 'w', status: 'running', createdAt: at, steps: [] };
    const type = path.includes('follow=false') ? 'text/event-stream' : 'application/json';
    response.writeHead(200, { 'Content-Type': type }).end(path.includes('follow=false') ? '' : JSON.stringify(run));
  });
  await expect(follow(url, { patienceMs: 50 })).rejects.toMatchObject({ code: 'unreachable' });
});

test('only the last lines of stored logs are sent', async () => {
  const server = await daemon({ cut: () => null });
  const lines: string[] = [];
  const { read } = await access(server.url, {}).logs('one', { ...request, follow: false, stream: 'stdout', tail: 2 });
  const reader = {
    release: () => {},
    end: () => {},
    isBehind: () => false,
    caughtUp: async () => {},
    isClosed: () => false,
  };
  const push = ({ bytes }: { bytes: Uint8Array }) => void lines.push(Buffer.from(bytes).toString());
  await read({ ...reader, push }, new AbortController().signal);
  expect(lines.join('')).toBe('line 198 é\nline 199 é\n');
  expect(server.received.filter(({ method }) => method === 'HEAD')).toHaveLength(2);
});
