import { attemptsOf } from '../../../service/history/attempts.ts';
import { type DescribedRoute, json, type Operation, ref } from '../../docs/operation.ts';
import { HttpError } from '../../reply/http-error.ts';
import { jsonReply } from '../../reply/json-reply.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { filter, runId, stepName } from '../parameters.ts';
import type { V2Parts } from '../parts.ts';
import { attemptIn, numberIn, wordIn } from '../query.ts';
import { findRun } from '../runs/find-run.ts';

const streams = ['stdout', 'stderr'] as const;

const operation: Operation = {
  id: 'stepLogIndex',
  tag: 'Logs and events',
  summary: 'Returns the positions of the lines of a log',
  description:
    'The size of one stream of one attempt, its number of lines, and the positions of every 512th line as differences: the 512th line after the start begins at `deltas[0]`, the 1024th at `deltas[0] + deltas[1]`. With these a client reads any lines of a log by `Range`. For a log that grows, ask again with `after`.',
  parameters: [
    runId,
    stepName,
    { ...filter('attempt', 'That attempt instead of the last one.'), schema: { type: 'integer', minimum: 1 } },
    { ...filter('stream', 'Which stream.'), schema: { type: 'string', enum: [...streams], default: 'stdout' } },
    {
      ...filter('after', 'The sum of the `deltas` that the client has: `lines` and `deltas` are those after it.'),
      schema: { type: 'integer', minimum: 0, default: 0 },
    },
  ],
  answers: {
    200: json('The index.', ref('LogIndex'), { size: 40_960, lines: 700, every: 512, deltas: [30_012] }),
  },
  problems: { 404: 'There is no such run, step or attempt.' },
};

/** `GET /api/v2/runs/{id}/steps/{step}/logs/index`. */
export function logIndexRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/runs/{id}/steps/{step}/logs/index',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: (request) => logIndex(request, parts),
    operation,
  };
}

async function logIndex({ params, query }: ApiRequest, parts: V2Parts): Promise<Reply> {
  const { id = '', step = '' } = params;
  const attempt = attemptIn(query);
  const stream = wordIn(query, 'stream', streams) ?? 'stdout';
  const after = numberIn(query, 'after', 0);
  const run = await findRun(id, parts);
  const last = attemptsOf(run, { step, attempt }).at(-1);
  const paths = last === undefined ? undefined : run.stored?.logPaths(last.step, last.attempt);
  const { indexes } = parts.logFiles;
  if (paths === undefined) return jsonReply({ size: 0, lines: 0, every: indexes.every, deltas: [] });
  const index = await indexes.of(stream === 'stdout' ? paths.stdoutPath : paths.stderrPath);
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
