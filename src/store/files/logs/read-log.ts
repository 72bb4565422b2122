import { FollowedFile } from './followed-file.ts';

const chunkBytes = 64 * 1024;

/**
 * The bytes of a log from an offset to its present end; none if the file does not exist. A chunk is valid only until
 * the next one is requested.
 */
export function* readLog(path: string, offset = 0): Generator<Uint8Array> {
  const file = new FollowedFile(path, offset);
  try {
    const buffer = Buffer.allocUnsafeSlow(chunkBytes);
    for (let left = file.available(); left > 0; ) {
      const length = file.read(buffer, Math.min(left, chunkBytes));
      if (length === 0) return;
      left -= length;
      yield buffer.subarray(0, length);
    }
  } finally {
    file.close();
  }
}
