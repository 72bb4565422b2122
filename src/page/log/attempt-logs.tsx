import { type Signal, useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { StepView } from '#run-view/api/types.ts';
import { counted, type Instance, instanceStep, presentLook } from '#run-view/texts.ts';
import { ApiProblem } from '../api/client.ts';
import { onReconnection } from '../data/connection.ts';
import { showsLogTimes, wrapsLogs } from '../data/page-settings.ts';
import type { ShownRun } from '../data/shown-run.ts';
import { Button } from '../parts/controls.tsx';
import { useKeys } from '../parts/keys/keyboard.tsx';
import { useQuery } from '../parts/screen.tsx';
import { copyText } from './copy-text.ts';
import { hashOf, type LineMap, type LineRange, lineRangeOf } from './line-map.ts';
import { type LogName, logAddress } from './log-api.ts';
import { type Jump, LogArea } from './log-area.tsx';
import { LogSearchBar, useLogSearch } from './log-search.tsx';
import { ShownLog } from './shown-log.ts';

const streams = ['stdout', 'stderr'] as const;

type LogsProps = { run: ShownRun; step: StepView; attempt: number; runId: string };

/** The log of an attempt, or one of its two. */
export function AttemptLogs({ run, step, attempt, runId }: LogsProps) {
  const [query, change] = useQuery();
  const logs = useMemo(() => {
    const log = (stream: LogName['stream']) => new ShownLog({ runId, step: step.name, attempt, stream });
    return { stdout: log('stdout'), stderr: log('stderr') };
  }, [runId, step.name, attempt]);
  useEffect(() => () => Object.values(logs).forEach((log) => void log.close()), [logs]);
  const size = (stream: LogName['stream']) => run.logSize({ step: step.name, attempt, stream }).value;
  const [stdoutSize, stderrSize] = [size('output') ?? size('stdout'), size('stderr')];
  const record = step.history.find((each) => each.attempt === attempt);
  const end = record?.finishedAt ?? null;
  const hasBegun = record !== undefined && record.startedAt !== null;
  // Also reads at the end of the attempt: the last output may not have been announced.
  useEffect(() => {
    if (hasBegun) logs.stdout.update();
  }, [logs, stdoutSize, hasBegun, end, showsLogTimes.value]);
  const hasTwo = logs.stdout.map.value?.streams.length === 2;
  const hasErrors = hasBegun && hasTwo;
  useEffect(() => {
    if (hasErrors) logs.stderr.update();
  }, [logs, stderrSize, hasErrors, end, showsLogTimes.value]);
  useEffect(() => {
    const update = () => [logs.stdout, ...(hasErrors ? [logs.stderr] : [])].forEach((log) => void log.update());
    return hasBegun ? onReconnection(update) : undefined;
  }, [logs, hasBegun, hasErrors]);
  const isKnown = logs.stdout.map.value !== null && (!hasTwo || logs.stderr.map.value !== null);
  const lines = { stdout: logs.stdout.map.value?.lines ?? 0, stderr: logs.stderr.map.value?.lines ?? 0 };
  const isAboutErrors = lines.stdout === 0 || step.status === 'failed';
  const usual = isAboutErrors && lines.stderr > 0 ? 'stderr' : 'stdout';
  const asked = streams.find((each) => each === query['stream']);
  const stream = hasTwo ? (asked ?? usual) : 'stdout';
  const problem = logs.stdout.problem.value ?? logs.stderr.problem.value;
  return (
    <>
      {hasTwo && (
        <div class="attempts">
          {streams.map((each) => (
            <Button
              key={each}
              class="chip"
              text={[`${each} `, <span class="quiet-count">{lines[each].toLocaleString('en')}</span>]}
              aria-pressed={each === stream}
              onClick={() => change({ stream: each }, '')}
            />
          ))}
        </div>
      )}
      {isKnown || asked !== undefined ? (
        <LogViewer
          key={stream}
          log={logs[stream]}
          what={hasTwo ? stream : 'output'}
          isGrowing={end === null}
          startsAtEnd={end === null || record?.status === 'failed'}
        />
      ) : (
        problem !== null && <p class="note">{problem.message}</p>
      )}
      {record !== undefined && record.status !== null && !hasBegun && (
        <p class="note">No log: this attempt ended before its start was recorded.</p>
      )}
    </>
  );
}

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
function LogViewer({ log, what, isGrowing, startsAtEnd }: ViewerProps) {
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
  useKeys({
    f: () => follow(!isFollowing.value),
    c: () => void copy(),
    Escape: () => selected !== null && select(null),
  });
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
          <Button
            class="plain"
            text="Follow"
            aria-pressed={isFollowing.value}
            title="Stay at the end (f)"
            onClick={() => follow(!isFollowing.value)}
          />
        )}
        <SettingButton text="Wrap" setting={wrapsLogs} />
        <SettingButton text="Times" setting={showsLogTimes} />
        <Button class="plain" text="Copy" title="Copy the selected lines, or all (c)" onClick={copy} />
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
        <Button class="new-lines" text={`${counted(fresh, 'new line')} ↓`} onClick={() => follow(true)} />
      )}
    </div>
  );
}

function SettingButton({ text, setting }: { text: string; setting: Signal<boolean> }) {
  return (
    <Button class="plain" text={text} aria-pressed={setting.value} onClick={() => (setting.value = !setting.value)} />
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

type InstanceLogsProps = {
  readonly run: ShownRun;
  readonly step: StepView;
  readonly items: readonly Instance[];
  /** The selected instance; undefined if there are none. */
  readonly instance: Instance | undefined;
  readonly runId: string;
};

/** The logs of one instance of a fan-out, with a selection of the others. */
export function InstanceLogs({ run, step, items, instance, runId }: InstanceLogsProps) {
  const [query, change] = useQuery();
  if (instance === undefined) return <p class="note">{step.error ?? 'There are no items.'}</p>;
  const { name, key, attempts } = instance;
  const attempt = Math.min(Number(query['attempt']) || attempts, attempts);
  return (
    <>
      <div class="attempts">
        <label>
          Instance{' '}
          <select value={key} onChange={({ currentTarget }) => change({ item: currentTarget.value, attempt: '' }, '')}>
            {items.map((each) => (
              <option key={each.key} value={each.key}>
                {each.key} ({presentLook(each).word})
              </option>
            ))}
          </select>
        </label>
        {attempts > 1 && (
          <label>
            Attempt{' '}
            <select
              value={String(attempt)}
              onChange={({ currentTarget }) => change({ attempt: currentTarget.value }, '')}
            >
              {Array.from({ length: attempts }, (_, before) => (
                <option key={before}>{before + 1}</option>
              ))}
            </select>
          </label>
        )}
      </div>
      {attempts === 0 ? (
        <p class="note">{instance.error ?? 'The instance has not started.'}</p>
      ) : (
        <AttemptLogs
          key={`${name} ${attempt}`}
          run={run}
          step={instanceStep(instance)}
          attempt={attempt}
          runId={runId}
        />
      )}
    </>
  );
}
