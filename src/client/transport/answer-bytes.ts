import type { IncomingMessage } from 'node:http';
import { WfError } from '#system/errors.ts';
import { connectionProblem, noAnswer, notUnderstood } from './connection-problem.ts';
import type { Transport } from './transport.ts';

/**
 * Yields the body of a response as it arrives. Throws a `WfError` `unreachable` if the connection breaks, or no byte
 * arrives for too long (not counting the reader's own time). Leaving the loop early closes the connection.
 */
export async function* answerBytes(
  incoming: IncomingMessage,
  { settings, limits }: Pick<Transport, 'settings' | 'limits'>,
): AsyncGenerator<Uint8Array, void> {
  const chunks = incoming[Symbol.asyncIterator]() as AsyncIterator<Uint8Array>;
  try {
    for (;;) {
      const timer = setTimeout(() => incoming.destroy(noAnswer(settings, limits.silenceMs)), limits.silenceMs);
      const next = await chunks.next().finally(() => clearTimeout(timer));
      if (next.done) return;
      yield next.value;
    }
  } catch (error) {
    throw error instanceof WfError ? error : connectionProblem(error as NodeJS.ErrnoException, settings);
  } finally {
    if (!incoming.readableEnded) incoming.destroy();
  }
}

/** Reads a whole body as text. Throws a `WfError` `unreachable` also for a body that is too large or not UTF-8. */
export async function answerText(incoming: IncomingMessage, transport: Transport): Promise<string> {
  const { settings, limits } = transport;
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of answerBytes(incoming, transport)) {
    length += chunk.length;
    if (length > limits.answerBytes) throw notUnderstood(settings, `it is larger than ${limits.answerBytes} bytes`);
    chunks.push(chunk);
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks, length));
  } catch {
    throw notUnderstood(settings, 'it is not UTF-8');
  }
}
