import { splitInstanceName } from '#core/fan-out/instance-name.ts';
import { isFinished } from '#core/run/run-state.ts';
import { stepMark } from '#render/views/log-lines.ts';
import { type AttemptReference, attemptsOf } from '#service/history/attempts.ts';
import { joinedLog } from '#service/history/logs/joined-log.ts';
import { followLogs } from '#service/history/logs/log-view.ts';
import type { PastRun } from '#service/history/past-run.ts';
import type { LogChunk, LogFile, LogStream } from '#store/logs.ts';
import { createStreamWriter } from '../../reply/stream-writer.ts';
import { readQuery } from '../../requests.ts';
import { type Handler, HttpError, type Reply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';
import { following } from './run-lines.ts';

/** The query. */
type Wanted = {
  readonly step: string;
  readonly attempt: number | null;
  readonly stream: LogStream;
  readonly offset: number;
};

/** `GET /api/v2/runs/{id}/steps/{step}/logs`. */
export function stepLogRoute(parts: V2Parts): Handler {
  return async ({ params: { id = '', step = '' }, query, headers }) => {
    const { follow, download, ...chosen } = readQuery('stepLog', query);
    const wanted: Wanted = { step, ...chosen };
    const run = await namedRun(id, parts);
    const attempts = attemptsOf(run, { step, attempt: chosen.attempt ?? 'last' });
    const last = attempts.at(-1) ?? null;
    const file = download ? { 'Content-Disposition': `attachment; filename="${fileName(run, wanted, last)}"` } : {};
    const streams = { 'Log-Streams': (await streamsOf(run, attempts)).join(', ') };
    const own = { 'Content-Type': 'text/plain; charset=utf-8', 'Accept-Ranges': 'bytes', ...streams, ...file };
    const log = await logOf(run, wanted, attempts);
    if (follow && !isFinished(run.state)) return followed(run, { ...wanted, log, headers: own }, parts);
    // The response has no tag, so a conditional range cannot match.
    const range = headers['if-range'] === undefined ? headers.range : undefined;
    return stored(log, { range, offset: wanted.offset, headers: own }, parts);
  };
}

/** The names of the logs of the attempts: two if an attempt has two. */
export async function streamsOf(
  { stored: found }: PastRun,
  attempts: readonly AttemptReference[],
): Promise<readonly LogStream[]> {
  let streams: readonly LogStream[] = ['output'];
  for (const { step, attempt } of attempts) {
    const own = found === null ? streams : await found.logs.streams(step, attempt);
    if (own.length > streams.length) streams = own;
  }
  return streams;
}

/** The log of the attempt; for a fan-out those of its instances. */
export async function logOf(
  { stored: found }: PastRun,
  { step, stream }: Pick<Wanted, 'step' | 'stream'>,
  attempts: readonly AttemptReference[],
): Promise<LogFile | null> {
  const last = attempts.at(-1);
  if (found === null || last === undefined) return null;
  const own = attempts.filter((attempt) => attempt.step !== step && isInstanceOf(attempt.step, step));
  if (own.length === 0) return found.logs.file(last.step, last.attempt, stream);
  return joinedLog(
    own.map((attempt) => ({
      header: stepMark(attempt.step),
      file: found.logs.file(attempt.step, attempt.attempt, stream),
    })),
  );
}

function isInstanceOf(name: string, step: string): boolean {
  return splitInstanceName(name)?.step === step;
}

type Part = {
  readonly range: string | undefined;
  readonly offset: number;
  readonly headers: Readonly<Record<string, string>>;
};

async function stored(
  file: LogFile | null,
  { range, offset, headers }: Part,
  { clock }: Pick<V2Parts, 'clock'>,
): Promise<Reply> {
  const size = (await file?.size()) ?? 0;
  const found = byteRange(range, size);
  if (found === 'unsatisfiable') {
    throw new HttpError(416, `the log has ${size} bytes`, { headers: { 'Content-Range': `bytes */${size}` } });
  }
  const { from, to }: ByteRange = found ?? { from: Math.min(offset, size), to: size };
  const place = found === null ? {} : { 'Content-Range': `bytes ${from}-${to - 1}/${size}` };
  return {
    status: found === null ? 200 : 206,
    headers: { ...headers, ...place, 'Content-Length': String(to - from) },
    stream: async (output, signal) => {
      const writer = createStreamWriter(output, signal, clock);
      let left = to - from;
      for await (const bytes of file?.read(from, to) ?? []) {
        left -= bytes.length;
        writer.write(bytes);
        if (writer.isBehind()) await writer.caughtUp();
        if (writer.isClosed()) return;
      }
      // The log was truncated or removed meanwhile: the response must not look complete.
      if (left > 0) output.destroy();
    },
  };
}

type FollowedLog = Wanted & Pick<Part, 'headers'> & { readonly log: LogFile | null };

function followed(run: PastRun, wanted: FollowedLog, parts: V2Parts): Reply {
  const { step, attempt, stream, offset, headers } = wanted;
  return {
    status: 200,
    headers: { ...headers, 'X-Accel-Buffering': 'no' },
    isQuiet: true,
    stream: async (output, signal) => {
      const writer = createStreamWriter(output, signal, parts.clock);
      let shown = '';
      const reader = {
        push: ({ step: from, bytes }: LogChunk) => {
          if (from !== shown && isInstanceOf(from, step)) writer.write(Buffer.from(`${stepMark(from)}\n`));
          shown = from;
          writer.write(bytes);
        },
        end: () => {},
        release: () => {},
      };
      const view = { ...following(parts, signal), reader: { ...reader, ...writer }, stream };
      const start = Math.min(offset, (await wanted.log?.size()) ?? 0);
      await followLogs(run, { ...view, filter: { step, attempt: attempt ?? 'last' }, start: () => start });
    },
  };
}

function fileName({ runId: id }: PastRun, { step, stream }: Wanted, last: AttemptReference | null): string {
  const name = `${id}-${step}.${last?.attempt ?? 0}.${stream === 'output' ? '' : `${stream}.`}log`;
  return name.replace(/[^A-Za-z0-9._-]+/g, '-').slice(-200);
}

/** Bytes from `from` (inclusive) to `to` (exclusive). */
type ByteRange = { readonly from: number; readonly to: number };

/**
 * Parses a `Range` header for a body of `size` bytes: one range; null for the whole body, also for several ranges and for an
 * invalid header (RFC 9110, 14.2); `unsatisfiable` for a range outside the body.
 */
function byteRange(header: string | undefined, size: number): ByteRange | 'unsatisfiable' | null {
  const [, first = '', last = ''] = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec((header ?? '').replace(/\s/g, '')) ?? [];
  if (first === '' && last === '') return null;
  if (first === '') {
    const length = Number(last);
    return length === 0 || size === 0 ? 'unsatisfiable' : { from: Math.max(0, size - length), to: size };
  }
  const from = Number(first);
  if (last !== '' && Number(last) < from) return null;
  if (from >= size) return 'unsatisfiable';
  return { from, to: last === '' ? size : Math.min(size, Number(last) + 1) };
}
