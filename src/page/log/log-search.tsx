import { signal } from '@preact/signals';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiProblem, api, ask } from '../api/client.ts';
import { onReconnection } from '../data/connection.ts';
import { Button } from '../parts/controls.tsx';
import { useQuery } from '../parts/screen.tsx';
import { chunksOf, type LogName } from './log-api.ts';
import { type LogQuery, matcherOf } from './matches.ts';
import type { ShownLog } from './shown-log.ts';

/** `lines` are counted from 0. They are added in place, to avoid a copy of 10,000 hits for each new one. */
type Hits = { readonly lines: readonly number[]; readonly isDone: boolean };

/** The server returns at most this many hits. */
const MAX_HITS = 10_000;

/** A search of the server in a log, and the matching lines found so far, in their order. */
class LogSearch {
  readonly hits = signal<Hits>({ lines: [], isDone: false });
  readonly problem = signal<ApiProblem | null>(null);
  readonly #abort = new AbortController();

  constructor(name: LogName, query: LogQuery) {
    void this.#read(name, query);
  }

  close(): void {
    this.#abort.abort();
  }

  async #read({ runId, ...log }: LogName, { text, isRegex, isCaseSensitive }: LogQuery): Promise<void> {
    const { signal } = this.#abort;
    const query = { q: text, ...log, regex: isRegex, ignoreCase: !isCaseSensitive };
    const params = { path: { id: runId }, query };
    const lines: number[] = [];
    const decoder = new TextDecoder();
    let rest = '';
    try {
      const body = await ask(api.GET('/api/v2/runs/{id}/logs/search', { params, signal, parseAs: 'stream' }));
      for await (const chunk of chunksOf(body)) {
        const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
        rest = parts.pop() ?? '';
        for (const part of parts) {
          const hit = JSON.parse(part) as { readonly line: number } | { readonly error: string };
          if ('error' in hit) throw new Error(hit.error);
          lines.push(hit.line - 1);
        }
        this.hits.value = { lines, isDone: false };
      }
      this.hits.value = { lines, isDone: true };
    } catch (error) {
      if (!signal.aborted) this.problem.value = ApiProblem.of(error);
    }
  }
}

/** The search in a log, as given by the address. */
type ShownSearch = {
  readonly query: LogQuery;
  /** A distinct value for each query. */
  readonly key: string;
  readonly hits: Hits;
  readonly current: number;
  readonly problem: ApiProblem | null;
  readonly matcher: RegExp | null;
  readonly set: (changes: Partial<LogQuery>) => void;
  /** Selects a hit, wrapping around at both ends; returns its line, null if there is none. */
  readonly goTo: (index: number) => number | null;
};

/** Delay between the last letter and the search, in milliseconds. */
const TYPED_MS = 250;
const noHits: Hits = { lines: [], isDone: true };

/** Searches a log by the address, and again when the log is complete or after a failed search. */
export function useLogSearch({ name }: ShownLog, isGrowing: boolean): ShownSearch {
  const [address, change] = useQuery();
  const query = useMemo(
    () => ({
      text: address['find'] ?? '',
      isRegex: address['regex'] === 'true',
      isCaseSensitive: address['case'] === 'true',
    }),
    [address['find'], address['regex'], address['case']],
  );
  const [search, setSearch] = useState<LogSearch | null>(null);
  const [current, setCurrent] = useState(0);
  const [tries, setTries] = useState(0);
  const key = JSON.stringify(query);
  useEffect(() => setCurrent(0), [key]);
  useEffect(() => {
    let started: LogSearch | null = null;
    const start = () => {
      started = query.text === '' ? null : new LogSearch(name, query);
      setSearch(started);
    };
    const timer = setTimeout(start, query.text === '' ? 0 : TYPED_MS);
    return () => {
      clearTimeout(timer);
      started?.close();
    };
  }, [name, key, isGrowing, tries]);
  useEffect(() => {
    const searchAgain = () => search?.problem.value && setTries((count) => count + 1);
    return onReconnection(searchAgain);
  }, [search]);
  const hits = search?.hits.value ?? noHits;
  return {
    query,
    key,
    hits,
    current,
    problem: search?.problem.value ?? null,
    matcher: useMemo(() => (query.text === '' ? null : matcherOf(query)), [query]),
    set: (changes) => {
      const { text, isRegex, isCaseSensitive } = { ...query, ...changes };
      change({ find: text, regex: isRegex ? 'true' : '', case: isCaseSensitive ? 'true' : '' });
    },
    goTo: (index) => {
      const count = hits.lines.length;
      if (count === 0) return null;
      const next = (index + count) % count;
      setCurrent(next);
      return hits.lines[next] ?? null;
    },
  };
}

/** The search field of a log, with the number of hits. */
export function LogSearchBar(props: { search: ShownSearch; onGo: (index: number) => void }) {
  const { search, onGo } = props;
  const { query, hits, current } = search;
  const count = hits.lines.length;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') onGo(current + (event.shiftKey ? -1 : 1));
    else if (event.key === 'Escape') search.set({ text: '' });
    else return;
    event.preventDefault();
  };
  return (
    <search class="log-search">
      <input
        type="search"
        aria-label="Find in the log"
        placeholder="Find in the log"
        value={query.text}
        onInput={(event) => search.set({ text: event.currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <Button
        class="plain"
        text=".*"
        aria-pressed={query.isRegex}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => search.set({ isRegex: !query.isRegex })}
      />
      <Button
        class="plain"
        text="Aa"
        aria-pressed={query.isCaseSensitive}
        aria-label="Match case"
        title="Match case"
        onClick={() => search.set({ isCaseSensitive: !query.isCaseSensitive })}
      />
      {query.text !== '' && (
        <>
          <span class="quiet hit-count" role="status">
            {count === 0
              ? hits.isDone
                ? 'no hit'
                : 'searching'
              : `${current + 1}/${count.toLocaleString('en')}${count < MAX_HITS ? '' : '+'}`}
          </span>
          <Button
            class="plain"
            text="↑"
            aria-label="Previous hit"
            disabled={count === 0}
            onClick={() => onGo(current - 1)}
          />
          <Button
            class="plain"
            text="↓"
            aria-label="Next hit"
            disabled={count === 0}
            onClick={() => onGo(current + 1)}
          />
        </>
      )}
    </search>
  );
}
