import type { LogForm } from '#render/log-lines.ts';
import { createLogLines } from '#render/log-lines.ts';
import type { LogQuery, LogView } from '#service/logs.ts';
import { attemptsOf, readLogs, searchLogs } from '#service/logs.ts';
import type { SearchLines } from '#service/workflows.ts';
import { lineFinder, textFinder } from '#service/workflows.ts';
import type { LogStream } from '#store/logs.ts';
import { WfError } from '#system/errors.ts';
import type { Queries } from '../../generated/requests.mjs';
import { createStreamWriter } from '../../reply/event-stream.ts';
import { prefers } from '../../reply/send.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { readQuery } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';
import { namedRun } from '../v2-parts.ts';

/** The query; null: not given. */
type Wanted = {
  readonly step: string | null;
  readonly attempt: number | null;
  readonly stream: LogStream | null;
  readonly tail: number | null;
  readonly follow: boolean;
  readonly times: boolean;
  readonly form: LogForm;
};

/** `GET /api/v2/runs/{id}/logs`. */
export function runLogs(parts: V2Parts): Handler {
  return async ({ params: { id = '' }, query, headers }) => {
    const wanted = wantedIn(query, headers.accept);
    const run = await namedRun(id, parts);
    // Report a missing log before anything is sent.
    attemptsOf(run, wanted);
    const type = wanted.form === 'json' ? 'application/x-ndjson' : 'text/plain';
    return {
      status: 200,
      headers: { 'Content-Type': `${type}; charset=utf-8`, Vary: 'Accept', 'X-Accel-Buffering': 'no' },
      isQuiet: wanted.follow,
      stream: (output, signal) => {
        const { form, step } = wanted;
        const writer = createStreamWriter(output, signal, parts.clock);
        const prefix = step === null ? (name: string) => `[${name}] ` : () => '';
        const lines = createLogLines({
          form,
          prefix,
          tail: null,
          marksAttempts: wanted.attempt === null,
          step,
          write: writer.write,
        });
        const reader = { ...lines, ...writer };
        const { attempt, stream, tail, follow: follows } = wanted;
        const now = wanted.times ? parts.clock.now : undefined;
        return readLogs(
          run,
          { filter: { step, attempt }, stream, tail, follows, now },
          { ...following(parts, signal), reader },
        );
      },
    };
  };
}

function wantedIn(query: URLSearchParams, accept: string | undefined): Wanted {
  const { format, ...wanted } = readQuery('runLogs', query);
  const isJson = format === null ? prefers(accept, ['application/x-ndjson'], ['text/plain']) : format === 'json';
  return { ...wanted, form: isJson ? 'json' : 'text' };
}

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
export function searchLogsOfRun(parts: V2Parts): Handler {
  return (request) => search(request, parts);
}

async function search({ params: { id = '' }, query }: ApiRequest, parts: V2Parts): Promise<Reply> {
  const { step, attempt, stream, ...searched } = readQuery('searchLogs', query);
  const wanted = queryOf(searched, parts.searchLines);
  const chosen = { step, attempt };
  const run = await namedRun(id, parts);
  // Report an unknown step before sending anything.
  attemptsOf(run, chosen);
  return {
    status: 200,
    headers: { 'Content-Type': 'application/x-ndjson; charset=utf-8', 'X-Accel-Buffering': 'no' },
    isQuiet: true,
    stream: async (output, signal) => {
      const writer = createStreamWriter(output, signal, parts.clock);
      let left = MAX_HITS;
      const { isClosed } = writer;
      try {
        for await (const hit of searchLogs(run, { query: wanted, filter: chosen, stream, isClosed })) {
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
    },
  };
}

type Searched = Pick<Queries['searchLogs'], 'q' | 'regex' | 'ignoreCase'>;

function queryOf({ q: text, regex, ignoreCase }: Searched, search: SearchLines): LogQuery {
  if (regex) return { find: lineFinder(text, { ignoreCase }, search) };
  return ignoreCase ? { find: textFinder(text, { ignoreCase }) } : { text };
}
