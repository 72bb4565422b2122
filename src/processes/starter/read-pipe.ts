import type { Readable } from 'node:stream';
import { nodeInternals } from '../node-internals.ts';

const bufferBytes = 64 * 1024;

/** The part of Node's handle beneath a pipe that is used here; `node:net` uses the same. */
type Handle = {
  onread: () => void;
  readonly useUserBuffer: (buffer: Uint8Array) => void;
  readonly readStart: () => number;
};

/** What is called with each text from a pipe (one character for each byte), and at its end or failure. */
type PipeReader = { readonly take: (text: string) => void; readonly end: () => void };

/**
 * Reads a pipe of a child by the handle beneath it, into one buffer: each text of a starter takes the stream of Node 60 µs
 * and 64 KiB of memory, and there are two for each program. Reads the stream if this Node does not offer the handle.
 */
export function readPipe(pipe: Readable | null | undefined, { take, end }: PipeReader): void {
  // Without descriptors for its pipes a child has none, and soon reports an error.
  if (!pipe) return;
  pipe.on('error', end);
  const { streamBaseState: state, kReadBytesOrError: count } = nodeInternals('stream_wrap') ?? {};
  const handle: unknown = Reflect.get(pipe, '_handle');
  if (!isHandle(handle) || !(state instanceof Int32Array) || typeof count !== 'number') {
    pipe.setEncoding('latin1').on('data', take).once('close', end);
    return;
  }
  const buffer = Buffer.allocUnsafeSlow(bufferBytes);
  handle.useUserBuffer(buffer);
  handle.onread = () => {
    const read = state[count] ?? 0;
    if (read > 0) take(buffer.toString('latin1', 0, read));
    if (read >= 0) return;
    pipe.destroy();
    end();
  };
  handle.readStart();
}

function isHandle(handle: unknown): handle is Handle {
  const { useUserBuffer, readStart } = (handle ?? {}) as Partial<Handle>;
  return typeof useUserBuffer === 'function' && typeof readStart === 'function';
}
