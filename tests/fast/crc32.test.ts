import { crc32 as zlibCrc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { crc32, crc32OfText } from '#fast/crc32.ts';
import { seal, unseal } from '#store/files/disk/private-files.ts';
import fc from '../support/fast-check.ts';

test('the checksum is that of zlib', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => {
      expect(crc32(bytes)).toBe(zlibCrc32(bytes));
    }),
  );
});

test('the checksum of a text is that of its bytes, however many came before', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(crc32OfText(text)).toBe(zlibCrc32(Buffer.from(text)));
    }),
    { numRuns: 500 },
  );
});

test('a sealed value is JSON and is read back unchanged', () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const sealed = seal(json);
      expect(JSON.parse(sealed).data).toEqual(JSON.parse(json));
      expect(unseal(Buffer.from(sealed))).toEqual(JSON.parse(json));
    }),
  );
});

test('a sealed text with any changed bit, or cut anywhere, is rejected', () => {
  const sealed = Buffer.from(seal('{"name":"été","n":[1,2,3]}'));
  for (let bit = 0; bit < sealed.length * 8; bit++) {
    const changed = Buffer.from(sealed);
    changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
    expect(unseal(changed)).toBeUndefined();
  }
  for (let length = 0; length < sealed.length; length++) expect(unseal(sealed.subarray(0, length))).toBeUndefined();
});
