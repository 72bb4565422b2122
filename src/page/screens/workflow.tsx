import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { lazy, useRoute } from 'preact-iso';
import { formatDuration, shortId } from '#render/text.ts';
import type { RunHead, Workflow, WorkflowDetail, WorkflowGrid } from '#run-view/api/types.ts';
import { type Fact, FactList, StatusIcon } from '#run-view/components.ts';
import { SourceText } from '#run-view/source.tsx';
import { counted, runLook, stepLook } from '#run-view/texts.ts';
import { to } from '../api/address.ts';
import { api, ask } from '../api/client.ts';
import { followLive } from '../data/live.ts';
import { isReadOnly } from '../data/login-session.ts';
import { createKept, createResource, type Resource } from '../data/resource.ts';
import { readWorkflow } from '../data/workflows/all-workflows.ts';
import { leaving } from '../data/workflows/unsaved.ts';
import { cellStatus, hasSchedule, isBroken, median } from '../data/workflows/workflow-filter.ts';
import { Button, Menu, Tabs } from '../parts/controls.tsx';
import { Diagnostics, LoadingOrProblem } from '../parts/problem-box.tsx';
import { RunRow } from '../parts/run-row.tsx';
import { ScheduleSwitch } from '../parts/schedule-switch.tsx';
import { onDemand, useQuery, useTitle } from '../parts/screen.tsx';
import { momentText, now, relativeText } from '../parts/time.tsx';
import { useDrawnRows } from '../parts/virtual-list.tsx';
import type { ChangeProps, WorkflowChange } from './workflow-changes.tsx';

// The texts of the screen appear before its drawing.
const FileGraph = onDemand(() => import('./file-graph.tsx').then((part) => part.FileGraph));
const WorkflowChanges = lazy(() => import('./workflow-changes.tsx').then((part) => part.WorkflowChanges));
const EditorPane = lazy(() => import('../editor/editor-pane.tsx').then((part) => part.EditorPane));

type Shown = { readonly detail: WorkflowDetail; readonly runs: readonly RunHead[]; readonly grid: WorkflowGrid };

const kept = createKept<Shown>();

/** One workflow: its description and graph, its last runs, and its text. */
export function WorkflowScreen() {
  const { name = '' } = useRoute().params;
  const shown = useMemo(() => createResource(() => read(name), kept.get(name)), [name]);
  useEffect(() => {
    const isOwn = (file: string | null) => file !== null && file === shown.known.value.value?.detail.file;
    const events = {
      run: ({ file }: RunHead) => isOwn(file) && void shown.refresh(),
      workflow: ({ file }: Workflow) => isOwn(file) && void shown.refresh(),
    };
    const stop = followLive(null, events, () => void shown.refresh());
    return () => {
      stop();
      kept.set(name, shown.known.value.value);
    };
  }, [shown]);
  const { value, problem } = shown.known.value;
  useTitle(value?.detail.name ?? 'Workflow');
  if (value !== null) return <Details {...value} removeBy={shown.removeBy} />;
  const elsewhere = { hrefOf: to.workflow, list: <a href={to.workflows}>All workflows</a> };
  return <LoadingOrProblem what="Workflow" problem={problem} retry={shown.refresh} elsewhere={elsewhere} />;
}

async function read(name: string): Promise<Shown> {
  const params = { path: { name } };
  const [detail, page, grid] = await Promise.all([
    readWorkflow(name),
    ask(api.GET('/api/v2/workflows/{name}/runs', { params: { ...params, query: { limit: 20 } } })),
    ask(api.GET('/api/v2/workflows/{name}/grid', { params })),
  ]);
  return { detail, runs: page.runs, grid };
}

function Details({ detail, runs, grid, removeBy }: Shown & Pick<Resource<Shown>, 'removeBy'>) {
  const [query, change] = useQuery();
  const { queue } = detail;
  const names = [
    ...(detail.graph === null ? [] : ['Overview']),
    'History',
    ...(detail.definition === null ? [] : ['Spec']),
  ];
  const usual = isBroken(detail) ? (names.at(-1) ?? 'History') : (names[0] ?? 'History');
  const tab = names.find((name) => name.toLowerCase() === query['tab']) ?? usual;
  return (
    <section>
      <div class="heading">
        <h1>
          <bdi>{detail.name}</bdi>
        </h1>
        {detail.tags.map((tag) => (
          <a key={tag} class="tag" href={`${to.workflows}?${new URLSearchParams({ tag })}`}>
            #{tag}
          </a>
        ))}
        <span class="space" />
        <ScheduleSwitch workflow={detail} />
        {!isBroken(detail) && !isReadOnly.value && (
          <a class="button main below" data-key="s" href={to.start(detail.id)}>
            Start
          </a>
        )}
        {!isReadOnly.value && <ChangeMenu workflow={detail} removeBy={removeBy} />}
      </div>
      <p class="facts quiet">
        {detail.description !== '' && <span>{detail.description}</span>}
        <span>{detail.file}</span>
        <ScheduleText workflow={detail} />
        {queue !== null && <span>{`queue ${queue.name}: ${queue.limit} at a time, ${queue.waiting} waiting`}</span>}
      </p>
      {detail.diagnostics.length > 0 && (
        <div class="card padded">
          <Diagnostics diagnostics={detail.diagnostics} text={detail.definition} />
        </div>
      )}
      <Tabs
        names={names}
        current={tab}
        onChoose={(name) => leaving(() => change({ tab: name === usual ? '' : name.toLowerCase(), edit: '' }))}
      />
      {tab === 'Overview' && <Overview detail={detail} runs={runs} />}
      {tab === 'History' && <History detail={detail} runs={runs} grid={grid} />}
      {tab === 'Spec' && (
        <Spec
          detail={detail}
          isEdited={query['edit'] === '1' && !isReadOnly.value}
          onEdit={(edit) => change({ tab: 'spec', edit: edit ? '1' : '' })}
        />
      )}
    </section>
  );
}

/** Suspends the schedule until a time; renames, copies and deletes the file. */
function ChangeMenu(props: Omit<ChangeProps, 'onClose'>) {
  const { name, schedule } = props.workflow;
  const change = useSignal<WorkflowChange | null>(null);
  const choose = (chosen: WorkflowChange) => () => leaving(() => (change.value = chosen));
  return (
    <>
      <Menu
        label={`More for ${name}`}
        items={[
          ...(hasSchedule(schedule) ? [{ text: 'Suspend until', act: choose('suspend') }] : []),
          ...(schedule.start.length > 0 && !isBroken(props.workflow)
            ? [{ text: 'Backfill', act: choose('backfill') }]
            : []),
          { text: 'Rename or move', act: choose('rename') },
          { text: 'Copy', act: choose('copy') },
          { text: 'Delete', act: choose('delete') },
        ]}
      />
      {change.value !== null && (
        <WorkflowChanges {...props} change={change.value} onClose={() => (change.value = null)} />
      )}
    </>
  );
}

type SpecProps = { detail: WorkflowDetail; isEdited: boolean; onEdit: (edit: boolean) => void };

/** The text of the file, read-only at first. */
function Spec({ detail, isEdited, onEdit }: SpecProps) {
  const edit = useRef<HTMLButtonElement>(null);
  const wasEdited = useRef(false);
  // The closed editor had the focus.
  useEffect(() => {
    if (wasEdited.current && !isEdited) edit.current?.focus();
    wasEdited.current = isEdited;
  }, [isEdited]);
  if (isEdited) return <EditorPane workflow={detail} onClose={() => onEdit(false)} />;
  return (
    <>
      {!isReadOnly.value && (
        <p class="spec-actions">
          <Button ref={edit} text="Edit" onClick={() => onEdit(true)} />
        </p>
      )}
      <SourceText path={detail.file} text={detail.definition ?? ''} />
    </>
  );
}

function ScheduleText({ workflow }: { workflow: WorkflowDetail }) {
  const { schedule, scheduleWords, nextStarts, suspended, suspendedUntil } = workflow;
  if (!hasSchedule(schedule)) return null;
  const words = scheduleWords ?? schedule;
  const parts = [
    ...words.start,
    ...words.stop.map((text) => `stop: ${text}`),
    ...words.restart.map((text) => `restart: ${text}`),
  ];
  const [first, ...later] = nextStarts;
  const until = suspendedUntil === null ? '' : ` until ${momentText(suspendedUntil)}`;
  return (
    <>
      <span title={[...schedule.start, ...schedule.stop, ...schedule.restart].join(', ')}>
        {parts.join('; ')}
        {suspended && `, suspended${until}`}
      </span>
      {first !== undefined && (
        <span>
          next {relativeText(now.value - Date.parse(first))} ({[first, ...later].map((at) => momentText(at)).join(', ')}
          )
        </span>
      )}
    </>
  );
}

/** The last runs of the overview; the history has more. */
const SHOWN_RUNS = 3;

function Overview({ detail, runs }: Omit<Shown, 'grid'>) {
  const { graph, params, env } = detail;
  return (
    <>
      {graph !== null && (
        <div class="card file-graph">
          <FileGraph graph={graph} />
        </div>
      )}
      {runs.length > 0 && (
        <>
          <h2>Last runs</h2>
          <RunRows runs={runs.slice(0, SHOWN_RUNS)} label={`Last runs of ${detail.name}`} />
        </>
      )}
      <div class="columns">
        <NamedValues
          title="Parameters"
          values={params.map(({ name, value }, index) => [name ?? `$${index + 1}`, value])}
        />
        <NamedValues title="Environment" values={env.map(({ name, value }) => [name, value])} />
      </div>
    </>
  );
}

function RunRows({ runs, label }: { runs: readonly RunHead[]; label: string }) {
  return (
    <ul class="card rows" aria-label={label}>
      {runs.map((run) => (
        <RunRow key={run.runId} run={run} isOfOne />
      ))}
    </ul>
  );
}

function NamedValues({ title, values }: { title: string; values: readonly (readonly [string, string])[] }) {
  if (values.length === 0) return null;
  return (
    <section>
      <h2>{title}</h2>
      <FactList kind="card padded" facts={values.map(([name, value]): Fact => [name, <code>{value}</code>])} />
    </section>
  );
}

function History({ detail, runs, grid }: Shown) {
  if (runs.length === 0) return <p class="empty">This workflow has never run.</p>;
  return (
    <>
      <HistoryGrid grid={grid} />
      <RunRows runs={runs} label={`Runs of ${detail.name}`} />
      <p class="more">
        <a href={to.runsOf(detail.name)}>All runs of {detail.name}</a>
      </p>
    </>
  );
}

const BAR_HEIGHT = 36;

type GridRun = WorkflowGrid['runs'][number];

/** The last runs of a workflow as columns, the newest at the right, with the status of each step. */
function HistoryGrid({ grid }: { grid: WorkflowGrid }) {
  const runs = grid.runs.toReversed();
  const durations = runs.flatMap(({ durationMs }) => durationMs ?? []);
  const middle = median(durations);
  const longest = Math.max(1, ...durations);
  const body = useRef<HTMLTableSectionElement>(null);
  const { first, last, before, after } = useDrawnRows(body, grid.steps.length);
  return (
    <section class="card grid-area" tabIndex={0} aria-label="Runs and their steps">
      <table class="grid" aria-rowcount={grid.steps.length + 1}>
        <caption>
          {counted(runs.length, 'run')}
          {middle !== null && `, median ${formatDuration(middle)}`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Duration</th>
            {runs.map((run) => (
              <th key={run.runId} scope="col">
                <RunBar run={run} longest={longest} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody ref={body}>
          {before > 0 && <tr style={{ height: `${before}px` }} />}
          {grid.steps.slice(first, last).map((step, index) => (
            <tr key={step} data-row={first + index} aria-rowindex={first + index + 2}>
              <th scope="row">
                <bdi>{step}</bdi>
              </th>
              {runs.map((run) => (
                <td key={run.runId}>
                  <Cell run={run} step={step} status={cellStatus(run.cells, first + index)} />
                </td>
              ))}
            </tr>
          ))}
          {after > 0 && <tr style={{ height: `${after}px` }} />}
        </tbody>
      </table>
    </section>
  );
}

function RunBar({ run, longest }: { run: GridRun; longest: number }) {
  const { runId, status, durationMs, createdAt } = run;
  const look = runLook(status);
  const height = Math.max(3, (BAR_HEIGHT * (durationMs ?? longest)) / longest);
  const took = durationMs === null ? '' : ` after ${formatDuration(durationMs)}`;
  return (
    <a class={look.kind} href={to.run(runId)} title={`${momentText(createdAt)}: ${look.word}${took}`}>
      <svg width="16" height={BAR_HEIGHT} role="img" aria-label={`${shortId(runId)}: ${look.word}${took}`}>
        <rect class="bar" x="3" y={BAR_HEIGHT - height} width="10" height={height} rx="1" />
      </svg>
    </a>
  );
}

function Cell({ run, step, status }: { run: GridRun; step: string; status: ReturnType<typeof cellStatus> }) {
  if (status === null) return null;
  const look = stepLook(status);
  return (
    <a href={to.runOfStep(run.runId, step)} title={`${step}: ${look.word}, ${momentText(run.createdAt)}`}>
      <StatusIcon look={look} label={look.word} />
    </a>
  );
}
