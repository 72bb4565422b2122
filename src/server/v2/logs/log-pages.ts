import { createLogLines } from '#render/log-lines.ts';
import { attemptsOf, type LogQuery, type LogView, readLogs, searchLogs } from '#service/logs.ts';
import { lineFinder, type SearchLines, textFinder } from '#service/workflows.ts';
import { WfError } from '#system/errors.ts';
import type { Queries } from '../../generated/requests.mjs';
import { streamReply } from '../../reply/event-stream.ts';
import { prefers } from '../../reply/send.ts';
import { HttpError, jsonReply, readQuery } from '../../route.ts';
import { namedRun, type V2Handler, type V2Parts } from '../v2-parts.ts';

/** `GET /api/v2/runs/{id}/logs`. */
export const runLogs: V2Handler = async ({ params: { id = '' }, query, headers }, parts) => {
  const { format, step, attempt, stream, tail, times, follow: follows } = readQuery('runLogs', query);
  const isJson =
    format === null ? prefers(headers.accept, ['application/x-ndjson'], ['text/plain']) : format === 'json';
  const filter = { step, attempt };
  const run = await namedRun(id, parts);
  // Report a missing log before anything is sent.
  attemptsOf(run, filter);
  const type = `${isJson ? 'application/x-ndjson' : 'text/plain'}; charset=utf-8`;
  const replyHeaders = { 'Content-Type': type, Vary: 'Accept', 'X-Accel-Buffering': 'no' };
  return streamReply(replyHeaders, { clock: parts.clock, isQuiet: follows }, (writer, signal) => {
    const lines = createLogLines({
      form: isJson ? 'json' : 'text',
      prefix: step === null ? (name: string) => `[${name}] ` : () => '',
      tail: null,
      marksAttempts: attempt === null,
      step,
      write: writer.write,
    });
    const query = { filter, stream, tail, follows, now: times ? parts.clock.now : undefined };
    return readLogs(run, query, { ...following(parts, signal), reader: { ...lines, ...writer } });
  });
};

/** The parts of a view that do not depend on the query. */
export function following({ feeds }: Pick<V2Parts, 'feeds'>, signal: AbortSignal): Pick<LogView, 'signal' | 'follow'> {
  return {
    signal,
    follow: async function* (run, until) {
      const known = run.stored?.events.length ?? 0;
      for await (const events of feeds.follow(run, known, until)) yield* events;
    },
  };
}

const MAX_HITS = 10_000;

/** `GET /api/v2/runs/{id}/logs/search`. */
export const searchLogsOfRun: V2Handler = async ({ params: { id = '' }, query }, parts) => {
  const { step, attempt, stream, ...searched } = readQuery('searchLogs', query);
  const wanted = queryOf(searched, parts.searchLines);
  const filter = { step, attempt };
  const run = await namedRun(id, parts);
  // Report an unknown step before sending anything.
  attemptsOf(run, filter);
  const headers = { 'Content-Type': 'application/x-ndjson; charset=utf-8', 'X-Accel-Buffering': 'no' };
  return streamReply(headers, { clock: parts.clock, isQuiet: true }, async (writer) => {
    let left = MAX_HITS;
    const { isClosed } = writer;
    try {
      for await (const hit of searchLogs(run, { query: wanted, filter, stream, isClosed })) {
        if (writer.isBehind()) await writer.caughtUp();
        if (isClosed()) return;
        writer.write(`${JSON.stringify(hit)}\n`);
        left -= 1;
        if (left === 0) return;
      }
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      writer.write(`${JSON.stringify({ error: error.message })}\n`);
    }
  });
};

type Searched = Pick<Queries['searchLogs'], 'q' | 'regex' | 'ignoreCase'>;

function queryOf({ q: text, regex, ignoreCase }: Searched, search: SearchLines): LogQuery {
  if (regex) return { find: lineFinder(text, { ignoreCase }, search) };
  return ignoreCase ? { find: textFinder(text, { ignoreCase }) } : { text };
}

/** `PUT /api/v2/runs/{id}/logs/{step}/{attempt}`. */
export const storeLog: V2Handler = async ({ params, query, body }, { storeLog: store }) => {
  const { id: runId = '', step = '', attempt = '' } = params;
  if (!/^[1-9]\d{0,8}$/.test(attempt))
    throw new HttpError(400, 'the number of an attempt must be a whole number from 1');
  const { worker, stream, offset, total } = readQuery('storeLog', query);
  const bytes = body instanceof Uint8Array ? body : new Uint8Array();
  const log = { runId, step, attempt: Number(attempt), stream, worker };
  return jsonReply({ size: await store(log, { offset, bytes, total }) });
};
