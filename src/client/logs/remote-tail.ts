import type { DaemonClient } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { remoteLogPaths } from './log-path.ts';

/** The bytes read from the end of a log, as for local logs. */
const mostBytes = 64 * 1024;
const tailLines = 10;

/**
 * Returns the last lines of an attempt's output, without line ends. Standard error comes last and has precedence, since
 * programs report failures there.
 */
export async function readRemoteTail(
  client: DaemonClient,
  { runId, step, attempt }: { readonly runId: string; readonly step: string; readonly attempt: number },
): Promise<readonly string[]> {
  const { stdoutPath, stderrPath } = remoteLogPaths(runId, step, attempt);
  const errors = await lastLines(client, stderrPath, tailLines);
  if (errors.length === tailLines) return errors;
  return [...(await lastLines(client, stdoutPath, tailLines - errors.length)), ...errors];
}

async function lastLines(client: DaemonClient, path: string, lines: number): Promise<readonly string[]> {
  const text = (await readEnd(client, path)).replace(/\r?\n$/, '');
  return text === '' ? [] : text.split(/\r?\n/).slice(-lines);
}

async function readEnd(client: DaemonClient, path: string): Promise<string> {
  const size = await client.size(path);
  if (size === 0) return '';
  const offset = Math.max(0, size - mostBytes);
  const incoming = await client.open(`${path}&offset=${offset}`, new AbortController().signal, { Accept: '*/*' });
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const bytes of answerBytes(incoming, client)) {
    chunks.push(bytes);
    length += bytes.length;
    if (length >= mostBytes) break;
  }
  return Buffer.concat(chunks).toString();
}
