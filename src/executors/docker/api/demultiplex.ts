/** Takes a part of a container's output. */
export type WriteOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

const headerLength = 8;

/**
 * Takes apart what Docker sends for a container without a terminal: frames of a header (the stream's number, three
 * zeros, the length in four bytes) and that many bytes. Whatever has come is passed on at once, also half a frame, so
 * that nothing piles up. Source: Docker Engine API, "Attach to a container", stream format.
 */
export function demultiplexer(write: WriteOutput): (chunk: Buffer) => void {
  const header = Buffer.alloc(headerLength);
  let filled = 0;
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const part = chunk.subarray(at, at + left);
        write(header[0] === 1 ? 'stdout' : 'stderr', part);
        left -= part.length;
        at += part.length;
      } else {
        const copied = chunk.copy(header, filled, at);
        at += copied;
        filled = (filled + copied) % headerLength;
        if (filled === 0) left = header.readUInt32BE(4);
      }
    }
  };
}
