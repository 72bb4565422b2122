import type { AttemptReference } from '../../service/history/attempts.ts';
import type { LogReader } from '../../service/history/log-view.ts';
import type { LogChunk } from '../../store/logs.ts';
import type { DaemonClient } from '../daemon-client.ts';
import { answerBytes } from '../transport/answer-bytes.ts';
import { notUnderstood } from '../transport/connection-problem.ts';
import { isObject, type JsonMap, numberIn, textIn } from '../transport/json-fields.ts';
import { textLines } from './text-lines.ts';

/** The maximum length of a line in characters; logs themselves have no limit. */
const longestLine = 256 * 1024 * 1024;

/** A request for stored logs; `path`: the path of their lines in JSON. */
export type LineRequest = {
  readonly path: string;
  readonly reader: Pick<LogReader, 'push' | 'end' | 'isBehind' | 'caughtUp' | 'isClosed'>;
  readonly signal: AbortSignal;
  readonly isWanted: (attempt: AttemptReference) => boolean;
};

/** Pushes the lines of stored logs to a reader, from one request; resolves to whether there were any. */
export async function readLogLines(
  client: DaemonClient,
  { path, reader, signal, isWanted }: LineRequest,
): Promise<boolean> {
  const incoming = await client.open(path, signal, { Accept: 'application/x-ndjson' });
  let before: LogChunk | null = null;
  for await (const line of textLines(answerBytes(incoming, client), longestLine)) {
    const chunk = readLine(line, client);
    if (!isWanted(chunk)) continue;
    if (before !== null && (before.step !== chunk.step || before.attempt !== chunk.attempt)) reader.end(before.step);
    before = chunk;
    reader.push(chunk);
    if (reader.isClosed()) return true;
    if (reader.isBehind()) await reader.caughtUp();
  }
  if (before !== null) reader.end(before.step);
  return before !== null;
}

function readLine(line: string, { settings }: DaemonClient): LogChunk {
  const fields = parse(line);
  const [step, text] = [textIn(fields, 'step'), textIn(fields, 'text')];
  const [attempt, stream] = [numberIn(fields, 'attempt'), textIn(fields, 'stream')];
  if (step === null || attempt === null || text === null || (stream !== 'stdout' && stream !== 'stderr')) {
    throw notUnderstood(settings, 'a line of a log is invalid');
  }
  return { step, attempt, stream, bytes: Buffer.from(fields['continues'] === true ? text : `${text}\n`) };
}

function parse(line: string): JsonMap {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : {};
  } catch {
    return {};
  }
}
