import { attemptsOf } from '#service/history/attempts.ts';
import { type LogQuery, searchLogs } from '#service/history/logs/search-logs.ts';
import { lineFinder, type SearchLines, textFinder } from '#service/workflows/line-matcher.ts';
import { WfError } from '#system/errors.ts';
import type { Queries } from '../../generated/requests.mjs';
import { createStreamWriter } from '../../reply/stream-writer.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

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
