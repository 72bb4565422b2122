import type { LogFile } from '#store/logs.ts';

/** A log and the line that introduces it, without its line end. */
export type LogSection = { readonly header: string; readonly file: LogFile };

/** A part of the joined log: its own bytes and where they begin. */
type Part = { readonly start: number; readonly size: number; readonly read: LogFile['read'] };

const newline = 0x0a;

/**
 * Joins logs to one, each after its header. Empty logs are left out. The parts are those of now: what is written later is
 * not in it.
 */
export async function joinedLog(sections: readonly LogSection[]): Promise<LogFile> {
  const parts: Part[] = [];
  let length = 0;
  const add = (size: number, read: LogFile['read']) => {
    parts.push({ start: length, size, read });
    length += size;
  };
  let isLineOpen = false;
  for (const { header, file } of sections) {
    const size = await file.size();
    if (size === 0) continue;
    const text = Buffer.from(`${isLineOpen ? '\n' : ''}${header}\n`);
    add(text.length, (from, to) => bytesOf(text.subarray(from, to)));
    add(size, file.read);
    isLineOpen = (await lastByte(file, size)) !== newline;
  }
  return {
    path: null,
    size: async () => length,
    read: (from, to = length) => readParts(parts, from, Math.min(to, length)),
  };
}

async function* readParts(parts: readonly Part[], from: number, to: number): AsyncGenerator<Uint8Array> {
  for (const { start, size, read } of parts) {
    const [first, end] = [Math.max(from - start, 0), Math.min(to - start, size)];
    if (first < end) yield* read(first, end);
  }
}

async function* bytesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

async function lastByte(file: LogFile, size: number): Promise<number | undefined> {
  let last: number | undefined;
  for await (const bytes of file.read(size - 1, size)) last = bytes.at(-1);
  return last;
}
