import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ApiProblem } from '../api/problem.ts';
import { onReconnection } from '../data/reconnection.ts';
import { useQuery } from '../parts/use-query.ts';
import { type Hits, type LogSearch, searchLog } from './log-search.ts';
import { type LogQuery, matcherOf } from './matches.ts';
import type { ShownLog } from './shown-log.ts';

/** The search in a log, as given by the address. */
export type ShownSearch = {
  readonly query: LogQuery;
  /** A distinct value for each query. */
  readonly key: string;
  readonly hits: Hits;
  /** The index of the current hit. */
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
      started = query.text === '' ? null : searchLog(name, query);
      setSearch(started);
    };
    const timer = setTimeout(start, query.text === '' ? 0 : TYPED_MS);
    return () => {
      clearTimeout(timer);
      started?.close();
    };
  }, [name, key, isGrowing, tries]);
  useEffect(
    () =>
      onReconnection(() => {
        if (search !== null && search.problem.value !== null) setTries((count) => count + 1);
      }),
    [search],
  );
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
