import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import type { RunHead } from '../api/types.ts';
import { followLive } from '../data/live.ts';
import { listRuns, type RunFilter, type RunList } from '../data/runs.ts';
import { Loading } from '../parts/loading.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { RunRow } from '../parts/run-row.tsx';
import { useQuery } from '../parts/use-query.ts';
import { useTitle } from '../parts/use-title.ts';

/** Runs of all workflows, newest first. The address has the filters. */
export function Runs(): JSX.Element {
  useTitle('Runs');
  const [query, change] = useQuery();
  const filter: RunFilter = {
    workflow: query['workflow'] ?? '',
    status: query['status'] ?? '',
    from: query['from'] ?? '',
    to: query['to'] ?? '',
  };
  const key = JSON.stringify(filter);
  const list = useMemo(() => listRuns(filter), [key]);
  useEffect(() => {
    const events = { run: list.take, 'run.removed': ({ runId }: { runId: string }) => list.remove(runId) };
    return followLive(null, events, () => void list.reload());
  }, [list]);
  return (
    <section>
      <div class="heading">
        <h1>Runs</h1>
        <Filters filter={filter} change={change} />
      </div>
      <List list={list} isFiltered={key !== JSON.stringify({ workflow: '', status: '', from: '', to: '' })} />
    </section>
  );
}

const statuses = ['failed', 'running', 'queued', 'succeeded', 'partially_succeeded', 'canceled', 'skipped'] as const;

function Filters({
  filter,
  change,
}: {
  filter: RunFilter;
  change: (changes: Record<string, string>) => void;
}): JSX.Element {
  return (
    <div class="filters">
      <input
        type="search"
        class="find"
        aria-label="Runs of the workflow"
        placeholder="Workflow"
        value={filter.workflow}
        onChange={(event) => change({ workflow: event.currentTarget.value.trim() })}
      />
      <select
        aria-label="Status"
        value={filter.status}
        onChange={(event) => change({ status: event.currentTarget.value })}
      >
        <option value="">Every status</option>
        {statuses.map((status) => (
          <option key={status} value={status}>
            {status.replace('_', ' ')}
          </option>
        ))}
      </select>
      <label>
        From <input type="date" value={filter.from} onChange={(event) => change({ from: event.currentTarget.value })} />
      </label>
      <label>
        To <input type="date" value={filter.to} onChange={(event) => change({ to: event.currentTarget.value })} />
      </label>
    </div>
  );
}

function List({ list, isFiltered }: { list: RunList; isFiltered: boolean }): JSX.Element {
  const runs = list.runs.value;
  const problem = list.problem.value;
  if (problem !== null && (runs === null || problem.status > 0)) {
    return <ProblemBox problem={problem} retry={() => void list.reload()} />;
  }
  if (runs === null) return <Loading />;
  return (
    <>
      {list.fresh.value > 0 && (
        <button type="button" class="fresh" onClick={() => void list.reload()}>
          {list.fresh.value} new
        </button>
      )}
      {runs.length === 0 ? <Empty isFiltered={isFiltered} /> : <Rows runs={runs} />}
      {list.hasMore.value && (
        <p class="more">
          <button type="button" onClick={() => void list.readMore()}>
            Show more
          </button>
        </p>
      )}
    </>
  );
}

function Rows({ runs }: { runs: readonly RunHead[] }): JSX.Element {
  return (
    <ul class="card rows" aria-label="Runs">
      {runs.map((run) => (
        <RunRow key={run.runId} run={run} />
      ))}
    </ul>
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
