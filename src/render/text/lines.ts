/** A line, or a piece of one: `continues` when the line goes on in the next piece. */
export type LinePiece = { readonly text: string; readonly continues: boolean };

/** The same as a `LineSplitter`, with word of which pieces belong to one line. */
export type PieceSplitter = {
  readonly push: (bytes: Uint8Array) => readonly LinePiece[];
  readonly flush: () => readonly LinePiece[];
};

/**
 * Bytes of one stream to whole lines. The result depends on the bytes alone, never on how they were cut into chunks,
 * and the memory held between chunks is bounded.
 */
export type LineSplitter = {
  /** The lines that these bytes complete, without their ends. */
  readonly push: (bytes: Uint8Array) => readonly string[];
  /** The line that was begun and never ended, if any. The splitter can be used again afterwards. */
  readonly flush: () => readonly string[];
};

/**
 * What a carriage return inside a line means: `overwrite` keeps the text after the last one, as a progress bar that
 * redraws its line wants it; `keep` leaves the line as it is.
 */
export type CarriageReturn = 'overwrite' | 'keep';

/** A line longer than this many UTF-16 code units is given in pieces of this size. */
export const longestLine = 64 * 1024;

/** Splits at `\n`. Bytes that are not UTF-8 become U+FFFD. */
export function createLineSplitter(carriageReturn: CarriageReturn): LineSplitter {
  const pieces = createPieceSplitter(carriageReturn);
  const textOf = ({ text }: LinePiece) => text;
  return { push: (bytes) => pieces.push(bytes).map(textOf), flush: () => pieces.flush().map(textOf) };
}

/** Splits at `\n`, as `createLineSplitter` does. */
export function createPieceSplitter(carriageReturn: CarriageReturn): PieceSplitter {
  const decode = createDecoder();
  const line = carriageReturn === 'overwrite' ? createOverwrittenLine() : createPlainLine();
  return {
    push: (bytes) => split(decode(bytes), line),
    flush: () => {
      const lines = split(decode(null), line);
      const rest = line.take();
      return rest === null ? lines : [...lines, { text: rest, continues: false }];
    },
  };
}

/** The line being gathered. */
type Line = {
  /** Adds text that holds no line end; gives the pieces that the line has outgrown. */
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
      while (held.length > longestLine) held = held.slice(pushPiece(held, into));
    },
    take: () => {
      const taken = held;
      held = null;
      return taken;
    },
  };
}

/** A carriage return takes effect only when text follows: before a line end it is part of the end. */
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

/** Hands on a piece of `longestLine`, or one less where that would cut a surrogate pair; gives its length. */
function pushPiece(text: string, into: LinePiece[]): number {
  const last = text.charCodeAt(longestLine - 1);
  const length = last >= 0xd800 && last <= 0xdbff ? longestLine - 1 : longestLine;
  into.push({ text: text.slice(0, length), continues: true });
  return length;
}

/** Bytes to text; null ends the stream. A decoder is made only once a chunk ends inside a character. */
function createDecoder(): (bytes: Uint8Array | null) => string {
  let decoder: InstanceType<typeof TextDecoder> | null = null;
  return (bytes) => {
    if (bytes === null) {
      const rest = decoder?.decode() ?? '';
      decoder = null;
      return rest;
    }
    if (decoder === null && endsWithAscii(bytes)) return decodeWhole(bytes);
    decoder ??= new TextDecoder('utf-8', { ignoreBOM: true });
    return decoder.decode(bytes, { stream: true });
  };
}

function endsWithAscii(bytes: Uint8Array): boolean {
  return bytes.length === 0 || (bytes[bytes.length - 1] ?? 0) < 0x80;
}

function decodeWhole(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
}
