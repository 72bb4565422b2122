import { isFinished } from '../../../core/run/run-state.ts';
import { createLogLines, type LogForm } from '../../../render/views/log-lines.ts';
import { attemptsOf } from '../../../service/history/attempts.ts';
import { followLogs, type LogView, showLogs } from '../../../service/history/log-view.ts';
import type { PastRun } from '../../../service/history/past-run.ts';
import { type DescribedRoute, type Operation, ref } from '../../docs/operation.ts';
import { prefers } from '../../reply/accept.ts';
import { createStreamWriter } from '../../reply/stream-writer.ts';
import type { ApiRequest, Reply } from '../../route.ts';
import { filter, flag, runId } from '../parameters.ts';
import type { LogFiles, V2Parts } from '../parts.ts';
import { attemptIn, flagIn, numberIn, wordIn } from '../query.ts';
import { findRun } from '../runs/find-run.ts';
import { tailStart } from './log-tail.ts';

const streams = ['stdout', 'stderr'] as const;

const operation: Operation = {
  id: 'runLogs',
  tag: 'Logs and events',
  summary: 'Returns the output of the steps of a run',
  description:
    'Line by line, as `wf logs` does: attempt after attempt, in the order in which they began, with a line `--- attempt 2 ---` before the output of an attempt that is not the first. Each line begins with its step, unless only one was asked for. Control characters are left out but for colours; who needs every byte asks for the log of a step.',
  parameters: [
    runId,
    filter('step', 'Only this step or handler.', 'load'),
    { ...filter('attempt', 'Only that attempt at each step.'), schema: { type: 'integer', minimum: 1 } },
    { ...filter('stream', 'Only this stream.'), schema: { type: 'string', enum: [...streams] } },
    { ...filter('tail', 'The number of last lines.'), schema: { type: 'integer', minimum: 0 } },
    flag('follow', 'Follows the output until the run has ended.'),
    {
      ...filter('format', 'Text, or one JSON object a line: `Accept: application/x-ndjson` asks for the latter, too.'),
      schema: { type: 'string', enum: ['text', 'json'] },
    },
  ],
  answers: {
    200: {
      description: 'The lines.',
      content: {
        'text/plain': { schema: { type: 'string' }, example: '[extract] 42 rows\n[load] loaded\n' },
        'application/x-ndjson': {
          schema: { type: 'string', 'x-line': ref('LogLine') },
          example: '{"step":"extract","attempt":1,"stream":"stdout","text":"42 rows"}\n',
        },
      },
    },
  },
  problems: { 404: 'There is no such run, step or attempt.' },
};

/** `GET /api/v2/runs/{id}/logs`. */
export function runLogsRoute(parts: V2Parts): DescribedRoute {
  return {
    method: 'GET',
    path: '/api/v2/runs/{id}/logs',
    access: 'read',
    body: 'none',
    errors: 'problem',
    handle: runLogs(parts),
    operation,
  };
}

/** What is asked for; null: nothing was said. */
type Wanted = {
  readonly step: string | null;
  readonly attempt: number | null;
  readonly stream: (typeof streams)[number] | null;
  readonly tail: number | null;
  readonly follow: boolean;
  readonly form: LogForm;
};

function runLogs(parts: V2Parts): (request: ApiRequest) => Promise<Reply> {
  return async ({ params: { id = '' }, query, headers }) => {
    const wanted = wantedIn(query, headers.accept);
    const run = await findRun(id, parts);
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
          write: writer.write,
        });
        const reader = { ...lines, ...writer };
        return sendLogs(run, wanted, { ...logView(parts, signal), reader, files: parts.logFiles });
      },
    };
  };
}

function wantedIn(query: URLSearchParams, accept: string | undefined): Wanted {
  const format = wordIn(query, 'format', ['text', 'json']);
  const isJson = format === null ? prefers(accept, ['application/x-ndjson'], ['text/plain']) : format === 'json';
  return {
    step: query.get('step') || null,
    attempt: attemptIn(query),
    stream: wordIn(query, 'stream', streams),
    tail: query.get('tail') ? numberIn(query, 'tail', 0) : null,
    follow: flagIn(query, 'follow'),
    form: isJson ? 'json' : 'text',
  };
}

/** The parts of a view that do not depend on what is asked for. */
export function logView(
  { logFiles, feeds }: Pick<V2Parts, 'logFiles' | 'feeds'>,
  signal: AbortSignal,
): Pick<LogView, 'signal' | 'readLog' | 'followLogs' | 'follow'> {
  return {
    signal,
    readLog: logFiles.read,
    followLogs: logFiles.follow,
    follow: async function* (run, until) {
      const known = run.stored?.events.length ?? 0;
      for await (const events of feeds.follow(run, known, until)) yield* events;
    },
  };
}

async function sendLogs(
  run: PastRun,
  wanted: Wanted,
  { files, ...view }: Omit<LogView, 'filter' | 'stream'> & { readonly files: LogFiles },
): Promise<void> {
  const { step, attempt, stream, tail, follow } = wanted;
  const chosen = { filter: { step, attempt }, stream };
  const start = tail === null ? {} : { start: tailStart(run, { ...chosen, lines: tail }, files) };
  const whole = { ...view, ...chosen, ...start };
  if (follow && !isFinished(run.state)) await followLogs(run, whole);
  else await showLogs(run, whole);
}
