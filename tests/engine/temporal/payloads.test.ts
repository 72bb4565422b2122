import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { jsonPayload, payloadValue } from '#engine/temporal/history.ts';
import { payloadCodec, readEngineKey } from '#engine/temporal/payloads.ts';

const long = 'a text with enough repetition '.repeat(200);

it.each([
  ['without a key', null],
  ['with a key', randomBytes(32)],
])('payloads return as they were, %s', async (_, key) => {
  const codec = payloadCodec(key);
  for (const value of ['short', long, { list: [1, null, 'ä'] }]) {
    const encoded = await codec.encode([jsonPayload(value)]);
    expect(await payloadValue({ payloads: encoded }, [codec])).toEqual(value);
  }
});

it('long payloads are compressed, and with a key none can be read', async () => {
  const plain = await payloadCodec(null).encode([jsonPayload(long)]);
  const secret = await payloadCodec(randomBytes(32)).encode([jsonPayload('short')]);

  expect(plain[0]?.data?.length).toBeLessThan(long.length / 5);
  expect(Buffer.from(secret[0]?.data ?? []).toString('latin1')).not.toContain('short');
});

it.each([
  ['no key', null, 'the data of this run is encrypted'],
  ['another key', randomBytes(32), 'the data of this run was encrypted with another key'],
])('%s is an error with a way out', async (_, key, message) => {
  const encoded = await payloadCodec(randomBytes(32)).encode([jsonPayload('short')]);

  await expect(payloadCodec(key).decode(encoded)).rejects.toMatchObject({
    code: 'usage',
    message,
    help: expect.stringContaining('engineKeyFile'),
  });
});

it('a key is 32 bytes, plain or in base64', () => {
  const folder = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const key = randomBytes(32);
  const file = (name: string, content: Buffer | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };

  expect(readEngineKey(file('plain', key))).toEqual(key);
  expect(readEngineKey(file('text', `${key.toString('base64')}\n`))).toEqual(key);
  expect(() => readEngineKey(file('short', 'abc'))).toThrow('is no key of 32 bytes');
  expect(() => readEngineKey(join(folder, 'missing'))).toThrow('cannot be read');
});
