import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createSuspensions } from '#store/files/daemon-state.ts';

const forever = Number.POSITIVE_INFINITY;
const at = Date.parse('2026-03-01T12:00:00Z');
let root: string;
let now: number;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-suspended-'));
  now = at;
});

afterEach(() => rmSync(root, { recursive: true }));

const open = () => createSuspensions(join(root, 'suspended'), () => now);

test('a schedule is suspended until its end, and the end can be read afterwards', () => {
  const suspensions = open();
  expect([suspensions.endOf('/a.yaml'), suspensions.suspendedUntil('/a.yaml')]).toEqual([null, null]);

  suspensions.set('/a.yaml', at + 1000);
  expect([suspensions.suspendedUntil('/a.yaml'), suspensions.suspendedUntil('/b.yaml')]).toEqual([at + 1000, null]);
  now = at + 1000;
  expect([suspensions.endOf('/a.yaml'), suspensions.suspendedUntil('/a.yaml')]).toEqual([at + 1000, null]);
});

test('a new end replaces the old one, also "forever", until the schedule is resumed', () => {
  const suspensions = open();
  suspensions.set('/a.yaml', at + 1000);
  suspensions.set('/a.yaml', forever);
  expect(open().suspendedUntil('/a.yaml')).toBe(forever);
  suspensions.set('/a.yaml', null);
  suspensions.set('/a.yaml', null);
  expect([open().endOf('/a.yaml'), readdirSync(join(root, 'suspended'))]).toEqual([null, []]);
});

test('a renamed file keeps the end', () => {
  const suspensions = open();
  suspensions.set('/a.yaml', at + 1000);
  suspensions.move('/a.yaml', '/b.yaml');
  suspensions.move('/c.yaml', '/d.yaml');
  expect(['a', 'b', 'd'].map((name) => suspensions.endOf(`/${name}.yaml`))).toEqual([null, at + 1000, null]);
});

test('the stamp changes with each change and each passed end', () => {
  const suspensions = open();
  const stamps = [suspensions.stamp()];
  suspensions.set('/a.yaml', at + 1000);
  stamps.push(suspensions.stamp());
  now = at + 1000;
  stamps.push(suspensions.stamp());
  expect(new Set(stamps).size).toBe(3);
});

test('a suspension without a second line, or with a damaged one, has no end', () => {
  const suspensions = open();
  suspensions.set('/a.yaml', at + 1000);
  const [name = ''] = readdirSync(join(root, 'suspended'));
  const mark = join(root, 'suspended', name);
  expect(readFileSync(mark, 'utf8')).toBe('/a.yaml\n2026-03-01T12:00:01.000Z\n');
  for (const text of ['/a.yaml\n', '/a.yaml\n2026-03-01T1', '']) {
    writeFileSync(mark, text);
    expect([text, suspensions.suspendedUntil('/a.yaml')]).toEqual([text, forever]);
  }
});
