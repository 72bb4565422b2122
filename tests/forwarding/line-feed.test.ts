import { expect, test } from 'vitest';
import { LineFeed } from '#forwarding/line-feed.ts';
import fc from '../support/fast-check.ts';

function lines(feed: LineFeed): string[] {
  const taken: string[] = [];
  for (let line = feed.take(); line; line = feed.take()) taken.push(`${line.stepName} ${line.stream} ${line.line}`);
  return taken;
}

const chunk = (text: string, stream: 'stdout' | 'stderr' = 'stdout', step = 'a') => ({
  step,
  attempt: 1,
  stream,
  bytes: Buffer.from(text),
});

test('lines are in order of completion, each with its stream', () => {
  const feed = new LineFeed(() => 0);
  feed.output(chunk('one\ntw'));
  feed.output(chunk('err', 'stderr'));
  feed.output(chunk('b\n', 'stdout', 'b'));
  feed.output(chunk('o\r\nrest'));
  feed.end('a', 1);
  feed.line({ stepName: 'a', line: 'done', at: 0, stream: 'run', attempt: 1 });
  expect(lines(feed)).toEqual([
    'a stdout one',
    'b stdout b',
    'a stdout two',
    'a stdout rest',
    'a stderr err',
    'a run done',
  ]);
  expect(feed.isEmpty).toBe(true);
});

test('lines are the same however the output is cut', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[é\n]{0,5}$/)), (texts) => {
      const whole = Buffer.from(texts.join(''));
      const feed = new LineFeed(() => 0);
      for (const byte of whole) feed.output({ step: 'a', attempt: 1, stream: 'stdout', bytes: Buffer.of(byte) });
      feed.end('a', 1);
      const expected = whole.toString().split('\n');
      if (expected.at(-1) === '') expected.pop();
      expect(lines(feed)).toEqual(expected.map((line) => `a stdout ${line}`));
    }),
  );
});

test('a line without an end is split into pieces', () => {
  const feed = new LineFeed(() => 0);
  feed.output(chunk('x'.repeat(150_000)));
  feed.end('a', 1);
  expect(lines(feed).map((line) => line.length - 'a stdout '.length)).toEqual([65536, 65536, 18928]);
});

test('dropping counts complete lines and keeps unfinished ones', () => {
  const text = fc.array(fc.stringMatching(/^[é\n]{0,5}$/));
  fc.assert(
    fc.property(text, text, fc.boolean(), (before, after, isWaiting) => {
      const [feed, other] = [new LineFeed(() => 0), new LineFeed(() => 0)];
      for (const part of before) other.output(chunk(part));
      const expected = lines(other).length;
      let dropped = 0;
      for (const part of before) {
        if (isWaiting) feed.output(chunk(part));
        else dropped += feed.skip(chunk(part));
      }
      expect(dropped + feed.drop()).toBe(expected);
      expect(feed.isEmpty).toBe(true);
      for (const part of after) for (const each of [feed, other]) each.output(chunk(part));
      for (const each of [feed, other]) each.end('a', 1);
      expect(lines(feed)).toEqual(lines(other));
    }),
  );
});

test('dropping counts events and unfinished lines too', () => {
  const feed = new LineFeed(() => 0);
  feed.line({ stepName: 'a', line: 'started', at: 0, stream: 'run', attempt: 1 });
  feed.output(chunk('one\ntwo'));
  feed.output(chunk('x'.repeat(150_000), 'stderr'));
  feed.end('a', 1);
  feed.end('b', 1);
  expect([feed.drop(), feed.drop(), lines(feed)]).toEqual([6, 0, []]);
});
