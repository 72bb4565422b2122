/**
 * Yields the lines of UTF-8 text without their ends, which are CR LF, LF or CR; text after the last line end is dropped.
 * Throws a `RangeError` for a line of more than `longest` characters.
 */
export async function* textLines(bytes: AsyncIterable<Uint8Array>, longest: number): AsyncGenerator<string, void> {
  const decoder = new TextDecoder();
  let parts: string[] = [];
  let length = 0;
  let endedWithReturn = false;
  for await (const chunk of bytes) {
    let text = decoder.decode(chunk, { stream: true });
    if (endedWithReturn && text.startsWith('\n')) text = text.slice(1);
    if (text === '') continue;
    endedWithReturn = text.endsWith('\r');
    const [first = '', ...others] = text.split(/\r\n|\n|\r/);
    parts.push(first);
    length += first.length;
    if (length > longest) throw new RangeError('a line is too long');
    for (const next of others) {
      yield parts.join('');
      parts = [next];
      length = next.length;
    }
  }
}
