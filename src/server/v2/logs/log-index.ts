import { attemptsOf } from '../../../service/history/attempts.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import { readQuery } from '../../requests.ts';
import type { ApiRequest, Handler, Reply } from '../../route.ts';
import { namedRun } from '../runs/named-run.ts';
import type { V2Parts } from '../v2-parts.ts';
import { createLineIndexes, type LineIndexes } from './line-indexes.ts';

/** `GET /api/v2/runs/{id}/steps/{step}/logs/index`. */
export function stepLogIndex(parts: V2Parts): Handler {
  const indexes = createLineIndexes();
  return (request) => logIndex(request, indexes, parts);
}

async function logIndex({ params, query }: ApiRequest, indexes: LineIndexes, parts: V2Parts): Promise<Reply> {
  const { id = '', step = '' } = params;
  const { attempt, stream, after } = readQuery('stepLogIndex', query);
  const run = await namedRun(id, parts);
  const last = attemptsOf(run, { step, attempt }).at(-1);
  const file = last === undefined ? undefined : run.stored?.logs.file(last.step, last.attempt, stream);
  if (file === undefined) return jsonReply({ size: 0, lines: 0, every: indexes.every, deltas: [] });
  const index = await indexes.of(file);
  const known = knownDeltas(index.deltas, after);
  return jsonReply({
    size: index.size,
    lines: index.lines - known * indexes.every,
    every: indexes.every,
    deltas: index.deltas.slice(known),
  });
}

/** Returns the count of deltas up to the position `after`. Throws an `HttpError` 400 if that is not a position of the index. */
function knownDeltas(deltas: readonly number[], after: number): number {
  let position = 0;
  let known = 0;
  while (position < after && known < deltas.length) {
    position += deltas[known] ?? 0;
    known += 1;
  }
  if (position === after) return known;
  throw new HttpError(400, '"after" is not a position of this index', { help: 'leave it out for the whole index' });
}
