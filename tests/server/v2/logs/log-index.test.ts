import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { jsonOf } from '../../../support/api-server.ts';
import { type ApiWorld, apiWorld } from '../../../support/api-world.ts';

type Index = {
  readonly size: number;
  readonly lines: number;
  readonly every: number;
  readonly deltas: readonly number[];
  readonly isGone: boolean;
};
type Hit = {
  readonly step: string;
  readonly attempt: number;
  readonly line: number;
  readonly offset: number;
  readonly text: string;
};

const path = '/api/v2/runs/r/steps/a/logs';

test('the index has the position of every 512th line, and continues when the log grows', async () => {
  const world = await ranWorld({ 'w.yaml': 'steps: [{name: a, command: seq 1 2000}]\n' });
  const whole = (await world.ask('GET', path)).body;
  const index = await indexOf(world, '');

  expect([index.size, index.lines, index.every, index.deltas.length]).toEqual([whole.length, 2000, 512, 3]);
  let position = 0;
  for (const [number, delta] of index.deltas.entries()) {
    position += delta;
    const { body } = await world.ask('GET', path, { headers: { Range: `bytes=${position}-${position + 3}` } });
    expect(body.split('\n')[0]).toBe(String((number + 1) * 512 + 1).slice(0, 4));
  }
  const log = (await world.app.history.read('r'))?.stored?.logs.file('a', 1, 'stdout').path ?? '';
  appendFileSync(log, 'more\n'.repeat(600));
  appendFileSync(log, 'without end');
  expect(await indexOf(world, `after=${position}`)).toEqual({
    size: whole.length + 3011,
    lines: 2601 - 3 * 512,
    every: 512,
    deltas: [expect.any(Number), 2560],
    isGone: false,
    streams: ['output'],
  });
  const all = await indexOf(world, '');
  expect([all.lines, all.deltas.length, all.deltas.slice(0, 3)]).toEqual([2601, 5, index.deltas]);
  expect((await world.ask('GET', `${path}/index?after=7`)).status).toBe(400);
  writeFileSync(`${log}.times`, `10 1000\n${position} 2000\n${position + 5} 3000\n`);
  expect(await indexOf(world, `times=true&after=${position}`)).toMatchObject({ times: [[position + 5, 3000]] });
});

test('a step without output has no lines, like a log that was removed', async () => {
  const world = await ranWorld({ 'w.yaml': 'steps: [{name: a, command: echo one}]\n' });
  const nothing = { size: 0, lines: 0, every: 512, deltas: [], streams: ['output'] };
  expect(await indexOf(world, 'stream=stderr')).toMatchObject(nothing);
  expect(await indexOf(world, '')).toMatchObject({ lines: 1, isGone: false });
  rmSync((await world.app.history.read('r'))?.stored?.logs.file('a', 1, 'stdout').path ?? '');
  expect(await indexOf(world, '')).toEqual({ ...nothing, isGone: true });
});

test('the index has the times of a log if asked, and the lines have theirs', async () => {
  const world = await ranWorld({ 'w.yaml': 'steps: [{name: a, command: echo one}]\n' });
  const { times } = JSON.parse((await world.ask('GET', `${path}/index?times=true`)).body);
  expect(times).toEqual([[4, expect.any(Number)]]);
  const at = new Date(times[0][1]).toISOString();
  const linesOf = async (query: string) => (await world.ask('GET', `/api/v2/runs/r/logs?${query}`)).body;
  expect(await linesOf('times=true')).toBe(`${at} [a] one\n`);
  expect(JSON.parse(await linesOf('times=true&format=json'))).toEqual({
    step: 'a',
    attempt: 1,
    stream: 'output',
    text: 'one',
    at,
  });
  expect(await linesOf('step=a')).toBe('one\n');
});

test('a search returns lines with their positions, in all or selected steps and attempts', async () => {
  const world = await ranWorld({
    'w.yaml': `logOutput: separate
steps:
  - name: a
    command: sh -c 'echo first; echo "ERROR one"; echo error two >&2; exit 1'
    retryPolicy: {limit: 1, intervalSec: 0}
    continueOn: {failure: true}
  - name: b
    command: printf 'x\\nan error at the end'
    depends: a
`,
  });
  const search = async (query: string) => hitsIn((await world.ask('GET', `/api/v2/runs/r/logs/search?${query}`)).body);

  expect(await search('q=error')).toEqual([
    { step: 'a', attempt: 1, stream: 'stderr', line: 1, offset: 0, text: 'error two' },
    { step: 'a', attempt: 2, stream: 'stderr', line: 1, offset: 0, text: 'error two' },
    { step: 'b', attempt: 1, stream: 'stdout', line: 2, offset: 2, text: 'an error at the end' },
  ]);
  const inA = await search('q=error&ignoreCase=true&step=a&attempt=1');
  expect(inA.map(({ line, offset, text }) => [line, offset, text])).toEqual([
    [2, 6, 'ERROR one'],
    [1, 0, 'error two'],
  ]);
  expect((await search('q=%5EERR.*e%24&regex=true&stream=stdout')).map(({ attempt }) => attempt)).toEqual([1, 2]);
  expect(await search('q=.*e&stream=stdout')).toEqual([]);
  for (const ends of ['q=%0A', 'q=one%0A', 'q=x%0Aan', 'q=%0A&ignoreCase=true', 'q=%5Cn&regex=true']) {
    expect([ends, await search(ends)]).toEqual([ends, []]);
  }
  for (const bad of ['', 'q=', 'q=(&regex=true', 'q=(((x{1000}){1000}){1000})&regex=true']) {
    expect([bad, (await world.ask('GET', `/api/v2/runs/r/logs/search?${bad}`)).status]).toEqual([bad, 400]);
  }
  expect((await world.ask('GET', '/api/v2/runs/r/logs/search?q=x&step=nobody')).status).toBe(404);
});

test('a search stops after 10,000 lines, and finds lines across buffers', async () => {
  const world = await ranWorld({
    'w.yaml': `steps:
  - {name: a, command: seq 1 30000}
  - name: b
    command: sh -c 'head -c 3000000 /dev/zero | tr "\\\\0" x; echo; echo needle; head -c 65530 /dev/zero | tr "\\\\0" y; echo needle'
`,
  });
  const search = async (query: string) => hitsIn((await world.ask('GET', `/api/v2/runs/r/logs/search?${query}`)).body);

  const all = await search('q=1&step=a');
  expect([all.length, new Set(all.map(({ line }) => line)).size]).toEqual([10_000, 10_000]);
  expect(all.every(({ line, text }) => text === String(line))).toBe(true);
  for (const query of ['q=needle&step=b', 'q=nee.le&regex=true&step=b']) {
    const found = await search(query);
    expect([query, found.map(({ line, offset, text }) => [line, offset, text.length])]).toEqual([
      query,
      [
        [2, 3_000_001, 6],
        [3, 3_000_008, 1000],
      ],
    ]);
  }
});

async function ranWorld(files: Readonly<Record<string, string>>): Promise<ApiWorld> {
  const world = await apiWorld(files);
  expect((await world.ask('POST', '/api/v2/workflows/w/runs', { body: { runId: 'r' } })).status).toBe(201);
  await world.runs.settled();
  return world;
}

async function indexOf({ ask }: ApiWorld, query: string): Promise<Index> {
  return jsonOf<Index>(await ask('GET', `${path}/index?${query}`));
}

function hitsIn(text: string): readonly Hit[] {
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}
