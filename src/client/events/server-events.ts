import { textLines } from '../logs/text-lines.ts';

/** One event of a stream, as the HTML standard has it under "server-sent events". */
export type ServerEvent = {
  /** The last id that the stream has given; empty before the first. */
  readonly id: string;
  /** `message` where none is named. */
  readonly type: string;
  readonly data: string;
};

/** A stream whose event is longer is none that we could keep. */
const longestEvent = 16 * 1024 * 1024;

/**
 * Reads a stream of events. What breaks off without its empty line is no event. Throws a `RangeError` for one that never ends.
 * `lastId` is what a stream that is taken up again begins with.
 */
export async function* serverEvents(
  bytes: AsyncIterable<Uint8Array>,
  lastId: string,
): AsyncGenerator<ServerEvent, void> {
  let id = lastId;
  let type = '';
  let data: string[] = [];
  let length = 0;
  for await (const line of textLines(bytes, longestEvent)) {
    length += line.length;
    if (length > longestEvent) throw new RangeError('an event is too long');
    if (line === '') {
      if (data.length > 0) yield { id, type: type === '' ? 'message' : type, data: data.join('\n') };
      type = '';
      data = [];
      length = 0;
      continue;
    }
    const [name, value] = field(line);
    if (name === 'data') data.push(value);
    else if (name === 'event') type = value;
    else if (name === 'id' && !value.includes('\0')) id = value;
  }
}

/** A comment is a field without a name. */
function field(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)];
}
