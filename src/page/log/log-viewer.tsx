import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { counted } from '#run-view/step-text.ts';
import { ApiProblem } from '../api/problem.ts';
import { showsLogTimes, wrapsLogs } from '../data/settings.ts';
import { listenToKeys } from '../data/shortcuts.ts';
import { useQuery } from '../parts/use-query.ts';
import { copyText } from './copy-text.ts';
import type { LineMap } from './line-map.ts';
import { hashOf, type LineRange, lineRangeOf } from './line-range.ts';
import { logAddress } from './log-api.ts';
import { type Jump, LogArea } from './log-area.tsx';
import { LogSearchBar } from './log-search-bar.tsx';
import type { ShownLog } from './shown-log.ts';
import { useLogSearch } from './use-log-search.ts';

type ViewerProps = {
  readonly log: ShownLog;
  /** The name of the log for readers: its stream, or `output` for both. */
  readonly what: string;
  /** Whether the attempt is running, so that lines can be added. */
  readonly isGrowing: boolean;
  /** Whether to start at the end: the lines before a failure, and new lines. */
  readonly startsAtEnd: boolean;
};

/** The copy limit, in bytes. */
const MAX_COPIED_BYTES = 8 * 1024 * 1024;

/** A log with its toolbar. The address has the search and the selected lines. */
export function LogViewer({ log, what, isGrowing, startsAtEnd }: ViewerProps): JSX.Element {
  const { name } = log;
  const [query, change] = useQuery();
  const selected = useLineRange();
  const map = log.map.value;
  const lines = map?.lines ?? 0;
  const [jump, setJump] = useState<Jump | null>(selected === null ? null : { line: selected.from - 1 });
  const isFollowing = useSignal(startsAtEnd && selected === null);
  const seenLines = useSignal(0);
  const follow = (isOn: boolean) => {
    isFollowing.value = isOn;
    seenLines.value = lines;
  };
  const search = useLogSearch(log, isGrowing);
  const current = search.hits.lines[search.current] ?? null;
  const goToHit = (index: number) => {
    const line = search.goTo(index);
    if (line === null) return;
    follow(false);
    setJump({ line });
  };
  // A new search scrolls to its first hit; a link to lines scrolls to them.
  const shownFor = useRef(selected === null ? '' : search.key);
  const hasHits = search.hits.lines.length > 0;
  useEffect(() => {
    if (!hasHits || shownFor.current === search.key) return;
    shownFor.current = search.key;
    goToHit(0);
  }, [hasHits, search.key]);
  const own = { step: name.step, attempt: String(name.attempt), stream: name.stream };
  const select = (range: LineRange | null) => change(range === null ? {} : own, hashOf(range));
  const onSelect = (line: number, isRange: boolean) => {
    const [from, to] = isRange && selected !== null ? [selected.from, selected.to] : [line, line];
    select(line < from ? { from: line, to } : { from, to: line });
  };
  const address = new URLSearchParams({ ...query, ...own });
  const [copied, setCopied] = useState('');
  const copy = async () => {
    if ((map?.size ?? 0) > MAX_COPIED_BYTES && selected === null) {
      setCopied('Select lines to copy: the whole log is too long.');
      return;
    }
    const last = Math.min(lines, selected?.to ?? lines);
    const count = last - (selected?.from ?? 1) + 1;
    try {
      const isCopied = await copyText(await log.text((selected?.from ?? 1) - 1, last));
      setCopied(isCopied ? `Copied ${counted(count, 'line')}.` : 'The browser refused to copy.');
    } catch (error) {
      setCopied(`Not copied: ${ApiProblem.of(error).message}.`);
    }
  };
  const actions = useRef({ copy, toggleFollow: () => {}, clear: () => {} });
  actions.current = {
    copy,
    toggleFollow: () => follow(!isFollowing.value),
    clear: () => selected !== null && select(null),
  };
  useEffect(
    () =>
      listenToKeys({
        f: () => actions.current.toggleFollow(),
        c: () => void actions.current.copy(),
        Escape: () => actions.current.clear(),
      }),
    [],
  );
  const fresh = lines - seenLines.value;
  return (
    <div class="log-viewer">
      <div class="log-tools">
        <LogSearchBar search={search} onGo={goToHit} />
        <span class="space" />
        <span class="quiet" role="status">
          {copied}
        </span>
        {isGrowing && (
          <button
            type="button"
            class="plain"
            aria-pressed={isFollowing.value}
            title="Stay at the end (f)"
            onClick={() => follow(!isFollowing.value)}
          >
            Follow
          </button>
        )}
        {(
          [
            ['Wrap', wrapsLogs],
            ['Times', showsLogTimes],
          ] as const
        ).map(([name, setting]) => (
          <button
            key={name}
            type="button"
            class="plain"
            aria-pressed={setting.value}
            onClick={() => {
              setting.value = !setting.value;
            }}
          >
            {name}
          </button>
        ))}
        <button type="button" class="plain" title="Copy the selected lines, or all (c)" onClick={() => void copy()}>
          Copy
        </button>
        <a class="plain-link" href={`${logAddress(name)}&download=true`} download>
          Download
        </a>
      </div>
      {log.problem.value !== null && <p class="note">{log.problem.value.message}</p>}
      {search.problem !== null && <p class="note">{search.problem.message}</p>}
      {map?.times?.length === 0 && lines > 0 && <p class="note">The times of these lines are unknown.</p>}
      {map !== null && lines === 0 ? (
        <p class="note">{emptyText(map, isGrowing)}</p>
      ) : (
        <LogArea
          log={log}
          label={`${what} of ${name.step}, attempt ${name.attempt}`}
          isWrapped={wrapsLogs.value}
          isFollowing={isFollowing.value}
          onFollow={(isOn) => (isOn ? isGrowing && follow(true) : follow(false))}
          jump={jump}
          selected={selected}
          onSelect={onSelect}
          hrefOf={(line) => `${location.pathname}?${address}#L${line}`}
          hits={search.hits.lines}
          currentHit={current}
          matcher={search.matcher}
        />
      )}
      {isGrowing && !isFollowing.value && fresh > 0 && (
        <button type="button" class="new-lines" onClick={() => follow(true)}>
          {counted(fresh, 'new line')} ↓
        </button>
      )}
    </div>
  );
}

/** The lines selected by the address. */
function useLineRange(): LineRange | null {
  const [, draw] = useState(0);
  useEffect(() => {
    const changed = () => draw((count) => count + 1);
    addEventListener('hashchange', changed);
    return () => removeEventListener('hashchange', changed);
  }, []);
  const { hash } = location;
  return useMemo(() => lineRangeOf(hash), [hash]);
}

function emptyText({ isGone }: LineMap, isGrowing: boolean): string {
  if (isGrowing) return 'No output yet.';
  return isGone ? 'The file of this log no longer exists.' : 'No output.';
}
