import { textLines } from '../logs/text-lines.ts';

/** One event of a stream, as defined by the HTML standard under "server-sent events". */
export type ServerEvent = {
  /** The last id of the stream; empty before the first. */
  readonly id: string;
  /** Default: `message`. */
  readonly type: string;
  readonly data: string;
};

/** The maximum length of an event in characters. */
const longestEvent = 16 * 1024 * 1024;

/**
 * Reads a stream of events. An event without its final empty line is dropped. Throws a `RangeError` for an event that is
 * too long. `lastId`: the initial id of a resumed stream.
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

/** Splits a line into name and value; a comment has an empty name. */
function field(line: string): readonly [name: string, value: string] {
  const colon = line.indexOf(':');
  if (colon === -1) return [line, ''];
  return [line.slice(0, colon), line.slice(line[colon + 1] === ' ' ? colon + 2 : colon + 1)];
}
