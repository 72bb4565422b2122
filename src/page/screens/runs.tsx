import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { shortId } from '#render/text/short-id.ts';
import { to } from '../api/address.ts';
import { createBatch, type RunBatch } from '../data/batch.ts';
import { isReadOnly } from '../data/daemon.ts';
import { createKept } from '../data/kept.ts';
import { followLive } from '../data/live.ts';
import { type LoadedRuns, listRuns, type RunFilter, type RunList } from '../data/runs.ts';
import { isUtc } from '../data/settings.ts';
import { listenToKeys } from '../data/shortcuts.ts';
import { focusedRow } from '../parts/keys/row-keys.ts';
import { Loading } from '../parts/loading.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { RunRow } from '../parts/run-row.tsx';
import { useQuery } from '../parts/use-query.ts';
import { useTitle } from '../parts/use-title.ts';
import { VirtualList } from '../parts/virtual-list.tsx';
import { BatchBar } from './runs-batch.tsx';
import { endOfDay, RunFilters, startOfDay } from './runs-filters.tsx';

const kept = createKept<LoadedRuns>();

/** Runs of all workflows, newest first. The address has the filters. */
export function Runs(): JSX.Element {
  useTitle('Runs');
  const [query, change] = useQuery();
  const isWaiting = query['status'] === 'waiting';
  const filter: RunFilter = {
    workflow: query['workflow'] ?? '',
    status: isWaiting ? '' : (query['status'] ?? ''),
    waiting: isWaiting ? 'true' : '',
    trigger: query['trigger'] ?? '',
    tag: query['tag'] ?? '',
    queue: query['queue'] ?? '',
    text: query['text'] ?? '',
    minDuration: query['longer'] ?? '',
    from: startOfDay(query['from'] ?? '', isUtc.value),
    to: endOfDay(query['to'] ?? '', isUtc.value),
  };
  const key = JSON.stringify(filter);
  const list = useMemo(() => listRuns(filter, kept.get(key)), [key]);
  const batch = useMemo(() => createBatch(), [key]);
  useEffect(() => {
    const events = { run: list.take, 'run.removed': ({ runId }: { runId: string }) => list.remove(runId) };
    const stop = followLive(null, events, () => void list.reload());
    return () => {
      stop();
      kept.set(key, list.close());
    };
  }, [list]);
  return (
    <section>
      <div class="heading">
        <h1>Runs</h1>
        <RunFilters query={query} change={change} />
      </div>
      <List list={list} batch={batch} isFiltered={Object.values(filter).some((value) => value !== '')} />
      {!isReadOnly.value && <BatchBar batch={batch} list={list} />}
    </section>
  );
}

type ListProps = { readonly list: RunList; readonly batch: RunBatch; readonly isFiltered: boolean };

function List({ list, batch, isFiltered }: ListProps): JSX.Element {
  const runs = list.runs.value;
  const problem = list.problem.value;
  if (problem !== null && (runs === null || problem.status > 0)) {
    return <ProblemBox problem={problem} retry={() => void list.reload()} />;
  }
  if (runs === null) return <Loading />;
  return (
    <>
      {list.fresh.value > 0 && (
        <button type="button" class="fresh" onClick={() => void list.reload().then(() => scrollTo(0, 0))}>
          {list.fresh.value.toLocaleString('en')} new
        </button>
      )}
      <p class="sr" role="status">
        {list.isReading.value && list.hasMore.value ? 'Loading older runs' : ''}
      </p>
      {runs.length === 0 && !list.hasMore.value ? (
        <Empty isFiltered={isFiltered} />
      ) : (
        <Rows list={list} batch={batch} />
      )}
      {list.isReading.value && list.hasMore.value && <p class="more quiet">Loading older runs</p>}
    </>
  );
}

function Rows({ list, batch }: Omit<ListProps, 'isFiltered'>): JSX.Element {
  const runs = list.runs.value ?? [];
  const toggle = (index: number, isRange: boolean) => {
    const run = list.runs.value?.[index];
    if (run !== undefined)
      batch.toggle(
        run.runId,
        (list.runs.value ?? []).map(({ runId }) => runId),
        isRange,
      );
  };
  useEffect(() => {
    if (isReadOnly.value) return;
    const toggleFocused = (isRange: boolean) => {
      const row = focusedRow()?.dataset['row'];
      if (row !== undefined) toggle(Number(row), isRange);
    };
    return listenToKeys({ x: () => toggleFocused(false), X: () => toggleFocused(true) });
  }, [list, batch]);
  return (
    <VirtualList
      class="card rows"
      label="Runs"
      count={runs.length}
      hasMore={list.hasMore.value}
      onEnd={list.readMore}
      row={(index, attributes) => {
        const run = runs[index];
        if (run === undefined) return <li key={index} />;
        const outcome = batch.outcomes.value.get(run.runId);
        return (
          <RunRow
            key={run.runId}
            run={run}
            attributes={attributes}
            note={outcome === undefined ? null : <RowOutcome error={outcome.error} runId={outcome.runId} />}
            choice={
              isReadOnly.value
                ? null
                : { isChosen: batch.chosen.value.has(run.runId), toggle: (isRange) => toggle(index, isRange) }
            }
          />
        );
      }}
    />
  );
}

function RowOutcome({ error, runId }: { error: string | null; runId: string | null }): JSX.Element {
  if (error !== null) return <span class="about outcome failed">{error}</span>;
  if (runId === null) return <span class="about outcome succeeded">done</span>;
  return (
    <span class="about outcome succeeded">
      new run <a href={to.run(runId)}>{shortId(runId)}</a>
    </span>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }): JSX.Element {
  return isFiltered ? (
    <p class="empty">No run matches.</p>
  ) : (
    <section class="empty">
      <h2>No runs yet</h2>
      <p>Start a workflow here, or in a shell:</p>
      <pre>wf run hello.yaml</pre>
    </section>
  );
}
