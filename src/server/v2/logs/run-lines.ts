import { createLogLines, type LogForm } from '#render/views/log-lines.ts';
import { attemptsOf } from '#service/history/attempts.ts';
import { type LogView, readLogs } from '#service/history/logs/log-view.ts';
import type { LogStream } from '#store/logs.ts';
import { prefers } from '../../reply/accept.ts';
import { createStreamWriter } from '../../reply/stream-writer.ts';
import { readQuery } from '../../requests.ts';
import type { Handler } from '../../route.ts';
import { namedRun, type V2Parts } from '../v2-parts.ts';

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
