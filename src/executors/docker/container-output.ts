/** Output being copied to the log: `done` resolves at its end; call `finish` when its program has ended. */
export type CopiedOutput = { readonly done: Promise<void>; readonly finish: () => void };

type CopyOptions = {
  /** A terminal has a single stream, without frames. */
  readonly hasTerminal: boolean;
  readonly write: WriteOutput;
};

/**
 * Time limit for remaining output after the program's end, in milliseconds; other holders of the output are not waited
 * for.
 */
const drainTimeoutMs = 2000;

/** Copies a container's output; reading waits for writing, so that nothing accumulates. */
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
  // Avoids an unhandled rejection if it is not awaited yet.
  done.catch(() => {});
  return {
    done,
    finish: () => {
      if (!isDone) timer = setTimeout(() => output.destroy(), drainTimeoutMs);
    },
  };
}

/** Receives a chunk of a container's output. */
export type WriteOutput = (stream: 'stdout' | 'stderr', chunk: Buffer) => void;

/** Passes output on and keeps its first 1,000 characters, where a runtime reports why a program could not start. */
export function remembering(write: WriteOutput): { readonly write: WriteOutput; readonly beginning: () => string } {
  let kept = '';
  return {
    write: (stream, chunk) => {
      if (kept.length < 1000) kept += chunk.toString();
      write(stream, chunk);
    },
    beginning: () => kept.slice(0, 1000),
  };
}

const headerLength = 8;

/**
 * Splits the stream of a container without a terminal into frames: a header (stream number, three zeros, length in four
 * bytes) and the payload. Partial frames are passed on at once, so that nothing accumulates. Source: Docker Engine API,
 * "Attach to a container", stream format.
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
