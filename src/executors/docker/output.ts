/** Output on its way into the log: `done` resolves at its end; `finish` says that its program has ended. */
export type CopiedOutput = { readonly done: Promise<void>; readonly finish: () => void };

type CopyOptions = {
  /** A terminal has one stream, which comes as it is. */
  readonly hasTerminal: boolean;
  readonly write: WriteOutput;
};

/** What is still on its way when a program ends is there in no time; whoever else holds the output is not waited for. */
const patienceMs = 2000;

/** Writes a container's output as it comes: reading waits for writing, so that nothing piles up. */
export function copyOutput(stream: NodeJS.ReadableStream, { hasTerminal, write }: CopyOptions): CopiedOutput {
  const output = stream as NodeJS.ReadableStream & { destroy: (error?: Error) => void };
  const take = hasTerminal ? (chunk: Buffer) => write('stdout', chunk) : demultiplexer(write);
  let timer: NodeJS.Timeout | undefined;
  let isDone = false;
  const done = new Promise<void>((resolve, reject) => {
    output.once('error', reject);
    output.once('close', resolve);
    output.on('data', (chunk: Buffer) => {
      try {
        take(chunk);
      } catch (error) {
        output.destroy();
        reject(error);
      }
    });
  }).finally(() => {
    isDone = true;
    clearTimeout(timer);
  });
  // Whether anybody waits for it yet or not.
  done.catch(() => {});
  return {
    done,
    finish: () => {
      if (!isDone) timer = setTimeout(() => output.destroy(), patienceMs);
    },
  };
}

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
