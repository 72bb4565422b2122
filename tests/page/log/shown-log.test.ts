import type { ServerResponse } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import type { ShownLog } from '#page/log/shown-log.ts';
import { httpServer } from '../../support/http-server.ts';

afterEach(() => void vi.unstubAllGlobals());

/** Lines per piece of the served logs. */
const EVERY = 2;

test('a log that became shorter is read again', async () => {
  const { log, replace } = await shown('old 1\nold 2\nold 3\n');
  await expectLines(log, ['old 1', 'old 2', 'old 3']);

  replace('new 1\nnew 2\n');
  await expectLines(log, ['new 1', 'new 2']);
});

test('a log that became shorter within its first piece is read again', async () => {
  const { log, replace, requests } = await shown('old text\n');
  await expectLines(log, ['old text']);
  const before = requests.length;

  replace('new\n');
  await expectLines(log, ['new']);
  expect(requests.slice(before)).toEqual(['index after 0', 'bytes=0-3']);
});

test('a longer log without a line at the known position is read again', async () => {
  const { log, replace } = await shown('old 1\nold 2\nold 3\n');
  await expectLines(log, ['old 1', 'old 2', 'old 3']);

  replace('a longer line\nnew\n');
  await expectLines(log, ['a longer line', 'new']);
});

test('a log that has grown keeps its lines', async () => {
  const { log, replace, requests } = await shown('one\ntwo\nthree\n');
  await expectLines(log, ['one', 'two', 'three']);
  const before = requests.length;

  replace('one\ntwo\nthree\nfour\n');
  await expectLines(log, ['one', 'two', 'three', 'four']);
  expect(requests.slice(before)).toEqual(['index after 8', 'bytes=14-18']);
});

test('the times of lines are read while they are shown, of the whole log at first', async () => {
  const { log, replace, requests, showsLogTimes } = await shown('one\ntwo\nthree\n');
  await expectLines(log, ['one', 'two', 'three']);
  expect(timesOf(log)).toEqual([null, null, null]);

  showsLogTimes.value = true;
  log.update();
  await expect.poll(() => timesOf(log)).toEqual([4, 8, 14]);
  replace('one\ntwo\nthree\nfour');
  await expectLines(log, ['one', 'two', 'three', 'four']);
  expect(timesOf(log)).toEqual([4, 8, 14, 18]);
  showsLogTimes.value = false;
  log.update();
  await expect.poll(() => timesOf(log)).toEqual([null, null, null, null]);
  expect(requests.filter((each) => each.startsWith('index'))).toEqual([
    'index after 0',
    'index after 0 with times',
    'index after 8 with times',
    'index after 8',
  ]);
});

function timesOf(log: ShownLog): readonly (number | null)[] {
  return Array.from({ length: log.map.value?.lines ?? 0 }, (_, line) => log.timeOf(line));
}

/** A log read from a server, where another text can replace it; and the requests for it. */
async function shown(first: string) {
  let text = first;
  const requests: string[] = [];
  const server = await httpServer(({ url, headers }, response) => {
    const { pathname, searchParams } = new URL(url, 'http://wf');
    const after = Number(searchParams.get('after'));
    const isIndex = pathname.endsWith('/index');
    const isTimed = searchParams.get('times') === 'true';
    requests.push(isIndex ? `index after ${after}${isTimed ? ' with times' : ''}` : (headers.range ?? ''));
    if (isIndex) sendIndex(response, text, { after, isTimed });
    else sendBytes(response, text, headers.range ?? '');
  });
  vi.stubGlobal('document', { baseURI: `${server.url}/` });
  vi.resetModules();
  const { ShownLog: Log } = await import('#page/log/shown-log.ts');
  const { showsLogTimes } = await import('#page/data/page-settings.ts');
  const log = new Log({ runId: 'r', step: 's', attempt: 1, stream: 'stdout' });
  const replace = (next: string) => {
    text = next;
  };
  return { log, replace, requests, showsLogTimes };
}

/** A line was complete as many milliseconds after the start of 1970 as there are bytes up to its end. */
function sendIndex(
  response: ServerResponse,
  text: string,
  { after, isTimed }: { readonly after: number; readonly isTimed: boolean },
): void {
  response.setHeader('Content-Type', 'application/json');
  if (after > 0 && text[after - 1] !== '\n') {
    response.writeHead(400).end('{"detail":"no line begins there"}');
    return;
  }
  const lines = text
    .slice(after)
    .split('\n')
    .filter((line) => line !== '');
  const ends = [...text.matchAll(/\n|$/g)].map(({ index, 0: end }) => index + end.length);
  const times = isTimed ? { times: ends.filter((end) => end > after).map((end) => [end, end]) } : {};
  const full = Math.ceil(lines.length / EVERY) - 1;
  const deltas = Array.from(
    { length: full },
    (_, piece) => lines.slice(piece * EVERY, (piece + 1) * EVERY).join('\n').length + 1,
  );
  response.end(
    JSON.stringify({ size: text.length, lines: lines.length, every: EVERY, deltas, isGone: false, ...times }),
  );
}

function sendBytes(response: ServerResponse, text: string, range: string): void {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(range) ?? [];
  response.writeHead(206).end(text.slice(Number(from), Number(to) + 1));
}

/** Updates a log and waits until these are its lines. */
async function expectLines(log: ShownLog, lines: readonly string[]): Promise<void> {
  log.update();
  log.want(0, 10);
  await expect.poll(() => Array.from({ length: log.map.value?.lines ?? 0 }, (_, at) => textOf(log, at))).toEqual(lines);
}

function textOf(log: ShownLog, index: number): string | undefined {
  return log
    .line(index)
    ?.spans.map(({ text }) => text)
    .join('');
}
