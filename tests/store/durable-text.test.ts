import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { durableText } from '#store/files/disk/durable-text.ts';

let root: string;

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'wf-durable-'));
});

afterEach(() => rmSync(root, { recursive: true }));

describe('a durable text', () => {
  it('is null before it is written, then the last written text', () => {
    const text = durableText(join(root, 'state/deep/schedule.json'));
    expect(text.read()).toBeNull();
    text.write('one');
    text.write('two');
    expect(text.read()).toBe('two');
    expect(readdirSync(join(root, 'state/deep'))).toEqual(['schedule.json']);
  });

  it('is written in the background', async () => {
    const text = durableText(join(root, 'state/deep/schedule.json'));
    await text.writeInBackground('one');
    const second = text.writeInBackground('two');
    expect(text.read()).toBe('one');
    await second;
    expect(text.read()).toBe('two');
    expect(readdirSync(join(root, 'state/deep'))).toEqual(['schedule.json']);
    expect(statSync(text.path).mode & 0o777).toBe(0o600);
  });

  it('is private to its user', () => {
    const path = join(root, 'state/schedule.json');
    durableText(path).write('one');
    expect([statSync(path).mode & 0o777, statSync(join(root, 'state')).mode & 0o777]).toEqual([0o600, 0o700]);
  });

  it('stays unchanged when it cannot be written, and leaves no draft', async () => {
    const text = durableText(join(root, 'schedule.json'));
    text.write('one');
    // The path of the draft.
    mkdirSync(join(root, `schedule.json.${process.pid}`));
    const problem = expect.objectContaining({ code: 'storage' });
    expect(() => text.write('two')).toThrow(problem);
    await expect(text.writeInBackground('two')).rejects.toThrow(problem);
    expect(text.read()).toBe('one');
  });

  it('that cannot be read is reported', () => {
    mkdirSync(join(root, 'schedule.json'));
    expect(() => durableText(join(root, 'schedule.json')).read()).toThrow(expect.objectContaining({ code: 'storage' }));
  });
});
