import { type ReadonlySignal, signal } from '@preact/signals';
import { ApiProblem } from '../api/problem.ts';
import { chunksOf, type LogName, request } from './log-api.ts';
import type { LogQuery } from './matches.ts';

/** The matching lines of a log found so far, in their order. */
export type LogSearch = {
  readonly hits: ReadonlySignal<Hits>;
  readonly problem: ReadonlySignal<ApiProblem | null>;
  readonly close: () => void;
};

/** `lines` are counted from 0. They are added in place, to avoid a copy of 10,000 hits for each new one. */
export type Hits = { readonly lines: readonly number[]; readonly isDone: boolean };

/** The server returns at most this many hits. */
export const MAX_HITS = 10_000;

/** Searches a log on the server. */
export function searchLog({ runId, step, attempt, stream }: LogName, query: LogQuery): LogSearch {
  const lines: number[] = [];
  const hits = signal<Hits>({ lines, isDone: false });
  const problem = signal<ApiProblem | null>(null);
  const abort = new AbortController();
  const address = `api/v2/runs/${encodeURIComponent(runId)}/logs/search?${new URLSearchParams({
    q: query.text,
    step,
    attempt: String(attempt),
    stream,
    regex: String(query.isRegex),
    ignoreCase: String(!query.isCaseSensitive),
  })}`;
  const read = async () => {
    try {
      const decoder = new TextDecoder();
      let rest = '';
      for await (const chunk of chunksOf(await request(address, { signal: abort.signal }))) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = parts.pop() ?? '';
        for (const part of parts) {
          const hit = JSON.parse(part) as { readonly line: number } | { readonly error: string };
          if ('error' in hit) throw new Error(hit.error);
          lines.push(hit.line - 1);
        }
        hits.value = { lines, isDone: false };
      }
      hits.value = { lines, isDone: true };
    } catch (error) {
      if (!abort.signal.aborted) problem.value = ApiProblem.of(error);
    }
  };
  void read();
  return { hits, problem, close: () => abort.abort() };
}
