import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished } from 'vitest';
import { keepEnd, writePiece } from '#system/file-pieces.ts';

function place(): { readonly directory: string; readonly path: string } {
  const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  return { directory, path: join(directory, 'logs/1.out') };
}

const GAP = '[gap]\n';
const content = Buffer.from('0123456789abcdefghij');
const end = (bytes: number) => ({ size: content.length, bytes: content.subarray(content.length - bytes) });
const piece = (offset: number, to: number, total: number | null = null) => ({
  offset,
  bytes: content.subarray(offset, to),
  total,
});

it('writes pieces where they belong, with what is new of each, and never a gap', async () => {
  const { path } = place();
  expect(await writePiece(path, piece(0, 4))).toBe(4);
  expect(await writePiece(path, piece(8, 12))).toBe(4);
  expect(await writePiece(path, piece(2, 8))).toBe(8);
  expect(await writePiece(path, piece(0, 4))).toBe(8);
  expect(await writePiece(path, piece(8, 8))).toBe(8);
  expect(readFileSync(path, 'utf8')).toBe('01234567');
});

it('keeps an end in the place of a file with a gap until all pieces have come', async () => {
  const { directory, path } = place();
  await writePiece(path, piece(0, 4));
  keepEnd(path, end(5), GAP);
  expect(readFileSync(path, 'utf8')).toBe(`${GAP}fghij`);
  expect(await writePiece(path, piece(4, 12))).toBe(12);
  expect(readFileSync(path, 'utf8')).toBe(`${GAP}fghij`);
  expect(await writePiece(path, piece(12, 20, 20))).toBe(20);
  expect(readFileSync(path)).toEqual(content);
  expect(readdirSync(join(directory, 'logs'))).toEqual(['1.out']);
});

it('completes pieces by an end that joins them', async () => {
  const { path } = place();
  await writePiece(path, piece(0, 16));
  keepEnd(path, end(5), GAP);
  expect(readFileSync(path)).toEqual(content);
});

it('keeps an end alone of a file that does not come in pieces, and a whole file as it is', () => {
  const { directory, path } = place();
  keepEnd(path, end(5), null);
  expect(readFileSync(path, 'utf8')).toBe('fghij');
  keepEnd(path, end(20), null);
  expect(readFileSync(path)).toEqual(content);
  keepEnd(path, end(5), null);
  expect(readFileSync(path)).toEqual(content);
  keepEnd(path, { size: 0, bytes: new Uint8Array() }, GAP);
  expect(readFileSync(path, 'utf8')).toBe('');
  expect(readdirSync(join(directory, 'logs'))).toEqual(['1.out']);
});

it('continues after a process that was killed between its steps', () => {
  const { path } = place();
  keepEnd(path, end(5), GAP);
  writeFileSync(path, '');
  keepEnd(path, end(5), GAP);
  expect(readFileSync(path, 'utf8')).toBe(`${GAP}fghij`);
});

it('has all bytes in the end, whatever order pieces and ends come in', async () => {
  const action = fc.oneof(
    fc.record({ from: fc.nat(20), length: fc.nat(8), knowsTotal: fc.boolean() }),
    fc.record({ bytes: fc.nat(20) }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(action, { maxLength: 20 }), async (actions) => {
      const directory = mkdtempSync(join(tmpdir(), 'wf-test-'));
      try {
        const path = join(directory, 'logs/1.out');
        const [longest] = actions.flatMap((each) => ('bytes' in each ? [each.bytes] : []));
        const pending = actions.map((each) => {
          if ('bytes' in each) return keepEnd(path, end(longest ?? 0), GAP);
          const to = Math.min(20, each.from + each.length);
          return writePiece(path, piece(Math.min(each.from, to), to, each.knowsTotal ? 20 : null));
        });
        await Promise.all(pending);
        for (let sent = 0; sent < 20; ) sent = await writePiece(path, piece(sent, Math.min(20, sent + 3), 20));
        await writePiece(path, piece(20, 20, 20));
        expect(readFileSync(path)).toEqual(content);
        expect(existsSync(`${path}.part`)).toBe(false);
      } finally {
        rmSync(directory, { recursive: true });
      }
    }),
    { numRuns: 200 },
  );
});

it('says what the disk refuses', async () => {
  const { directory } = place();
  writeFileSync(join(directory, 'logs'), 'a file');
  await expect(writePiece(join(directory, 'logs/1.out'), piece(0, 4))).rejects.toMatchObject({ code: 'ENOTDIR' });
});
