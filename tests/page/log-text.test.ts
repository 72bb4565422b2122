import { expect, test } from 'vitest';
import { LogReader } from '../../src/page/data/log-text.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('lines arrive in parts, and a character may be cut in two', () => {
  const reader = new LogReader(0);
  const text = bytes('first\nsecönd\nthi');

  reader.add(text.subarray(0, 10));
  expect(reader.text.lines).toEqual(['first', 'sec']);
  reader.add(text.subarray(10));

  expect(reader.text).toEqual({ from: 0, to: text.length, lines: ['first', 'secönd', 'thi'] });
});

test('of a log that is read from its middle, the torn first line is left out', () => {
  const reader = new LogReader(100);

  reader.add(bytes('orn\nwhole\n'));
  reader.add(bytes('next\n'));

  expect(reader.text).toEqual({ from: 104, to: 115, lines: ['whole', 'next'] });
});

test('a line shows what a program left there last', () => {
  const reader = new LogReader(0);

  reader.add(bytes('10 %\r50 %\r100 %\ncarriage return at the end\r\n1/2\r2/2'));

  expect(reader.text.lines).toEqual(['100 %', 'carriage return at the end', '2/2']);
});

test('bytes that are no UTF-8 are shown as such', () => {
  const reader = new LogReader(0);

  reader.add(new Uint8Array([97, 0xff, 98, 10]));

  expect(reader.text.lines).toEqual(['a\ufffdb']);
});
