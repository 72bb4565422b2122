import type { JSX } from 'preact';
import { MAX_HITS } from './log-search.ts';
import type { ShownSearch } from './use-log-search.ts';

/** The search field of a log, with the number of hits. */
export function LogSearchBar(props: { search: ShownSearch; onGo: (index: number) => void }): JSX.Element {
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
      <button
        type="button"
        class="plain"
        aria-pressed={query.isRegex}
        aria-label="Regular expression"
        title="Regular expression"
        onClick={() => search.set({ isRegex: !query.isRegex })}
      >
        .*
      </button>
      <button
        type="button"
        class="plain"
        aria-pressed={query.isCaseSensitive}
        aria-label="Match case"
        title="Match case"
        onClick={() => search.set({ isCaseSensitive: !query.isCaseSensitive })}
      >
        Aa
      </button>
      {query.text !== '' && (
        <>
          <span class="quiet hit-count" role="status">
            {count === 0 ? (hits.isDone ? 'no hit' : 'searching') : `${current + 1}/${countText(count)}`}
          </span>
          <button
            type="button"
            class="plain"
            aria-label="Previous hit"
            disabled={count === 0}
            onClick={() => onGo(current - 1)}
          >
            ↑
          </button>
          <button
            type="button"
            class="plain"
            aria-label="Next hit"
            disabled={count === 0}
            onClick={() => onGo(current + 1)}
          >
            ↓
          </button>
        </>
      )}
    </search>
  );
}

function countText(count: number): string {
  return count < MAX_HITS ? count.toLocaleString('en') : `${MAX_HITS.toLocaleString('en')}+`;
}
