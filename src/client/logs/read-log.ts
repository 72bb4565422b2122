import type { DaemonClient } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { createPatience } from '../transport/patience.ts';

/**
 * The bytes of a log from an offset up to where it ends now, even if the daemon is away for a while in between.
 * `path` is one of `remoteLogPaths`.
 */
export async function* readRemoteLog(
  client: DaemonClient,
  { path, offset, signal }: LogPart,
): AsyncGenerator<Uint8Array, void> {
  const patience = createPatience(client);
  let at = offset;
  for (;;) {
    try {
      const incoming = await client.open(`${path}&offset=${at}`, signal, { Accept: '*/*' });
      patience.refresh();
      for await (const bytes of answerBytes(incoming, client)) {
        at += bytes.length;
        yield bytes;
      }
      return;
    } catch (error) {
      await patience.wait(error, signal);
    }
  }
}

/** A log from an offset on. */
export type LogPart = {
  readonly path: string;
  readonly offset: number;
  readonly signal: AbortSignal;
};
