import { expect, test } from 'vitest';
import { type ServerEvent, serverEvents } from '#client/event-feed.ts';
import fc from '../../support/fast-check.ts';

async function read(parts: readonly Uint8Array[], lastId = ''): Promise<readonly ServerEvent[]> {
  const events: ServerEvent[] = [];
  for await (const event of serverEvents(stream(parts), lastId)) events.push(event);
  return events;
}

async function* stream(parts: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* parts;
}

const text = (...lines: readonly string[]) => [Buffer.from(lines.join('\n'))];

test('an event has the last id, its type and its lines of data', async () => {
  const events = await read(
    text(
      'retry: 1000',
      '',
      'id: 7',
      'event: step.started',
      'data: {"a":',
      'data: 1}',
      '',
      ':still here',
      '',
      'data:x',
      '',
      '',
    ),
  );
  expect(events).toEqual([
    { id: '7', type: 'step.started', data: '{"a":\n1}' },
    { id: '7', type: 'message', data: 'x' },
  ]);
});

test('an event without its empty line is ignored', async () => {
  expect(await read(text('data: whole', '', 'data: half', 'da'), '3')).toEqual([
    { id: '3', type: 'message', data: 'whole' },
  ]);
});

test('an endless event is refused', async () => {
  const endless = Array.from({ length: 40 }, () => Buffer.alloc(1024 * 1024, 'x'));
  await expect(read([Buffer.from('data: '), ...endless])).rejects.toThrow(RangeError);
});

test('a stream may be cut anywhere, with any line ends', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(fc.record({ id: fc.nat(), data: fc.string({ unit: 'binary' }) }), { maxLength: 5 }),
      fc.constantFrom('\n', '\r\n', '\r'),
      fc.array(fc.nat(), { maxLength: 20 }),
      async (sent, end, cuts) => {
        const told = sent.map(({ id, data }) => ({ id, data: data.replace(/[\r\n]/g, ' ') }));
        const bytes = Buffer.from(told.map(({ id, data }) => `id: ${id}${end}data: ${data}${end}${end}`).join(''));
        const ends = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
        const parts = [0, ...ends].map((from, i) => bytes.subarray(from, ends[i] ?? bytes.length));
        expect(await read(parts)).toEqual(told.map(({ id, data }) => ({ id: String(id), type: 'message', data })));
      },
    ),
  ));
