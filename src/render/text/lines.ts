/** A line or a piece of one; `continues` if the next piece belongs to the same line. */
export type LinePiece = { readonly text: string; readonly continues: boolean };

/** A splitter of the bytes of a stream into lines. */
export type PieceSplitter = ReturnType<typeof createPieceSplitter>;

/** `overwrite` keeps only the text after the last carriage return of a line, as progress bars mean it; `keep` keeps all. */
export type CarriageReturn = 'overwrite' | 'keep';

/** Longer lines, in UTF-16 code units, are returned in pieces of this size. */
export const LONGEST_LINE = 64 * 1024;

/** Splits a stream at `\n`, whatever the size of its chunks, in bounded memory. Bytes that are not UTF-8 become U+FFFD. */
export function createPieceSplitter(carriageReturn: CarriageReturn) {
  const decode = createDecoder();
  const line = carriageReturn === 'overwrite' ? createOverwrittenLine() : createPlainLine();
  return {
    /** Returns the lines that these bytes complete, and full pieces of a long one. */
    push: (bytes: Uint8Array): readonly LinePiece[] => split(decode(bytes), line),
    /** Returns the last line without a line break, if any. The splitter can be used again afterwards. */
    flush: (): readonly LinePiece[] => {
      const lines = split(decode(null), line);
      const rest = line.take();
      return rest === null ? lines : [...lines, { text: rest, continues: false }];
    },
  };
}

type Line = {
  /** Adds text without a line break; returns the full pieces of the line. */
  readonly add: (text: string, into: LinePiece[]) => void;
  readonly take: () => string | null;
};

function split(text: string, line: Line): LinePiece[] {
  const lines: LinePiece[] = [];
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
    line.add(text.slice(start, end), lines);
    lines.push({ text: line.take() ?? '', continues: false });
    start = end + 1;
  }
  if (start < text.length) line.add(start === 0 ? text : text.slice(start), lines);
  return lines;
}

function createPlainLine(): Line {
  let held: string | null = null;
  return {
    add: (text, into) => {
      held = (held ?? '') + text;
      while (held.length > LONGEST_LINE) held = held.slice(pushPiece(held, into));
    },
    take: () => {
      const taken = held;
      held = null;
      return taken;
    },
  };
}

/** A carriage return takes effect only if text follows: before a line feed it is part of the line break. */
function createOverwrittenLine(): Line {
  const line = createPlainLine();
  let returned = false;
  return {
    add: (text, into) => {
      if (text === '') return;
      if (!returned && !text.includes('\r')) return line.add(text, into);
      for (const part of text.split(/(\r+)/)) {
        if (part === '') continue;
        if (part.startsWith('\r')) returned = true;
        else {
          if (returned) line.take();
          returned = false;
          line.add(part, into);
        }
      }
    },
    take: () => {
      returned = false;
      return line.take();
    },
  };
}

/** Returns the length of a piece: `longestLine`, or one less where that would cut a surrogate pair. */
function pushPiece(text: string, into: LinePiece[]): number {
  const last = text.charCodeAt(LONGEST_LINE - 1);
  const length = last >= 0xd800 && last <= 0xdbff ? LONGEST_LINE - 1 : LONGEST_LINE;
  into.push({ text: text.slice(0, length), continues: true });
  return length;
}

/** Decodes bytes; null ends the stream. A decoder is created only when a chunk ends inside a character. */
function createDecoder(): (bytes: Uint8Array | null) => string {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  return (bytes) => {
    if (bytes === null) {
      const rest = decoder?.decode() ?? '';
      decoder = null;
      return rest;
    }
    const endsWithAscii = bytes.length === 0 || (bytes[bytes.length - 1] ?? 0) < 0x80;
    if (decoder === null && endsWithAscii)
      return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    return decoder.decode(bytes, { stream: true });
  };
}
