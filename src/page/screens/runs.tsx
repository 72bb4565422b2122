import { useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { shortId } from '#render/text.ts';
import { counted } from '#run-view/texts.ts';
import { to } from '../api/address.ts';
import { isOffline } from '../data/connection.ts';
import { followLive } from '../data/live.ts';
import { isReadOnly } from '../data/login-session.ts';
import { isUtc } from '../data/page-settings.ts';
import { createKept } from '../data/resource.ts';
import { type BatchAction, type LoadedRuns, RunBatch, type RunFilter, RunList } from '../data/run-list.ts';
import { isActive } from '../data/workflows/workflow-filter.ts';
import { Button } from '../parts/controls.tsx';
import { ConfirmDialog } from '../parts/dialog.tsx';
import { focusedRow, useKeys } from '../parts/keys/keyboard.tsx';
import { LoadingOrProblem } from '../parts/problem-box.tsx';
import { RunRow, triggerWords } from '../parts/run-row.tsx';
import { useQuery, useTitle } from '../parts/screen.tsx';
import { VirtualList } from '../parts/virtual-list.tsx';

const kept = createKept<LoadedRuns>();

/** Runs of all workflows, newest first. The address has the filters. */
export function Runs() {
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
    from: timeOf(query['from'] ?? '', '00:00:00'),
    to: timeOf(query['to'] ?? '', '23:59:59.999'),
  };
  const key = JSON.stringify(filter);
  const list = useMemo(() => new RunList(filter, kept.get(key)), [key]);
  const batch = useMemo(() => new RunBatch(), [key]);
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

function List({ list, batch, isFiltered }: ListProps) {
  const runs = list.runs.value;
  const problem = list.problem.value;
  if (runs === null || (problem !== null && problem.status > 0))
    return <LoadingOrProblem problem={problem} retry={list.reload} />;
  return (
    <>
      {list.fresh.value > 0 && (
        <Button
          class="fresh"
          text={`${list.fresh.value.toLocaleString('en')} new`}
          onClick={() => void list.reload().then(() => scrollTo(0, 0))}
        />
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

function Rows({ list, batch }: Omit<ListProps, 'isFiltered'>) {
  const runs = list.runs.value ?? [];
  const toggle = (index: number, isRange: boolean) => {
    const ids = (list.runs.value ?? []).map(({ runId }) => runId);
    const id = ids[index];
    if (id !== undefined) batch.toggle(id, ids, isRange);
  };
  const toggleFocused = (isRange: boolean) => {
    const row = focusedRow()?.dataset['row'];
    if (row !== undefined && !isReadOnly.value) toggle(Number(row), isRange);
  };
  useKeys({ x: () => toggleFocused(false), X: () => toggleFocused(true) });
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

function RowOutcome({ error, runId }: { error: string | null; runId: string | null }) {
  if (error !== null) return <span class="about outcome failed">{error}</span>;
  if (runId === null) return <span class="about outcome succeeded">done</span>;
  return (
    <span class="about outcome succeeded">
      new run <a href={to.run(runId)}>{shortId(runId)}</a>
    </span>
  );
}

function Empty({ isFiltered }: { isFiltered: boolean }) {
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

const words = {
  stop: { ask: 'Stop', about: 'No further step of them starts; handlers still run.', done: 'stopped' },
  retry: { ask: 'Retry', about: 'Each starts a new run of the steps that did not succeed.', done: 'retried' },
  delete: { ask: 'Delete', about: 'Their logs are deleted too.', done: 'deleted' },
} as const satisfies Record<BatchAction, object>;

/** The actions on the selected runs, and the outcome of the last one. */
function BatchBar({ batch, list }: { batch: RunBatch; list: RunList }) {
  const asked = useSignal<BatchAction | null>(null);
  const count = batch.chosen.value.size;
  const done = batch.done.value;
  const problem = batch.problem.value;
  if (count === 0 && done === null && problem === null && !batch.isPending.value) return null;
  const chosen = (list.runs.value ?? []).filter(({ runId }) => batch.chosen.value.has(runId));
  const active = chosen.filter(({ status }) => isActive(status)).length;
  const isOff = batch.isPending.value || isOffline.value;
  const button = (action: BatchAction, isPossible: boolean) => (
    <Button
      class={action === 'retry' ? '' : 'danger'}
      text={words[action].ask}
      disabled={isOff || !isPossible}
      onClick={() => (asked.value = action)}
    />
  );
  const runs = (many: number) => counted(many, 'run');
  return (
    <div class="batch card">
      <span role="status">
        {batch.isPending.value
          ? 'Working'
          : done !== null && `${runs(done.count - done.failed)} ${words[done.action].done}`}
        {done !== null && done.failed > 0 && <strong class="outcome failed">, {done.failed} failed</strong>}
        {problem !== null && <strong class="outcome failed">{problem.message}</strong>}
      </span>
      <span class="space" />
      {count > 0 && (
        <>
          <span>{counted(count, 'run')} selected</span>
          {button('stop', active > 0)}
          {button('retry', active < count)}
          {button('delete', active < count)}
          <Button class="plain" text="Clear" onClick={() => batch.clear()} />
        </>
      )}
      {asked.value !== null && (
        <ConfirmDialog
          title={`${words[asked.value].ask} ${runs(count)}?`}
          action={words[asked.value].ask}
          onConfirm={() => {
            const action = asked.value;
            asked.value = null;
            if (action !== null) void batch.act(action);
          }}
          onCancel={() => (asked.value = null)}
        >
          <p>{words[asked.value].about}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}

type FiltersProps = { query: Readonly<Record<string, string>>; change: (changes: Record<string, string>) => void };

const statuses = ['failed', 'running', 'waiting', 'queued', 'succeeded', 'partially_succeeded', 'canceled', 'skipped'];
const durations = { 10: '10 seconds', 60: '1 minute', 600: '10 minutes', 3600: '1 hour' };

function RunFilters({ query, change }: FiltersProps) {
  const text = (name: string, label: string, kind = 'find') => (
    <input
      type="search"
      class={kind}
      aria-label={label}
      placeholder={label}
      value={query[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value.trim() })}
    />
  );
  const choice = (name: string, label: string, options: readonly (readonly [value: string, text: string])[]) => (
    <select
      aria-label={label}
      value={query[name] ?? ''}
      onChange={(event) => change({ [name]: event.currentTarget.value })}
    >
      <option value="">{`Every ${label.toLowerCase()}`}</option>
      {options.map(([value, word]) => (
        <option key={value} value={value}>
          {word}
        </option>
      ))}
    </select>
  );
  const day = (name: string, label: string) => (
    <label>
      {label}{' '}
      <input
        type="date"
        value={query[name] ?? ''}
        onChange={(event) => change({ [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <search class="filters">
      {text('workflow', 'Workflow')}
      {text('text', 'Id, parameter or error')}
      {text('tag', 'Tag', 'find short')}
      {text('queue', 'Queue', 'find short')}
      {choice(
        'status',
        'Status',
        statuses.map((status) => [status, status === 'waiting' ? 'awaiting approval' : status.replace('_', ' ')]),
      )}
      {choice('trigger', 'Trigger', Object.entries(triggerWords))}
      {choice(
        'longer',
        'Duration',
        Object.entries(durations).map(([seconds, word]) => [seconds, `over ${word}`]),
      )}
      <span class="days">
        {day('from', 'From')}
        {day('to', 'To')}
      </span>
    </search>
  );
}

/** A time of a day in the selected time zone, in ISO 8601; empty if the text is not a date. */
function timeOf(day: string, time: string): string {
  const at = new Date(`${day}T${time}${isUtc.value ? 'Z' : ''}`);
  return /^\d{4}-\d\d-\d\d$/.test(day) && !Number.isNaN(at.getTime()) ? at.toISOString() : '';
}
