import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { lazy, useLocation } from 'preact-iso';
import { formatDuration } from '#render/text.ts';
import type { RunHead, Workflow } from '#run-view/api/types.ts';
import { StatusIcon } from '#run-view/components.ts';
import { countsText, presentRunLook, runLook } from '#run-view/texts.ts';
import { pathOf, to } from '../api/address.ts';
import { isReadOnly } from '../data/login-session.ts';
import {
  followWorkflows,
  readWorkflow,
  readWorkflows,
  workflows,
  workflowsProblem,
} from '../data/workflows/all-workflows.ts';
import {
  filters,
  filterWorkflows,
  isActive,
  isBroken,
  median,
  type WorkflowFilter,
} from '../data/workflows/workflow-filter.ts';
import { followSvgLink } from '../graph/svg-link.ts';
import { Button } from '../parts/controls.tsx';
import { Diagnostics, LoadingOrProblem } from '../parts/problem-box.tsx';
import { ScheduleSwitch } from '../parts/schedule-switch.tsx';
import { useQuery, useTitle } from '../parts/screen.tsx';
import { Ago, Took } from '../parts/time.tsx';

const NewWorkflow = lazy(() => import('./new-workflow.tsx').then((part) => part.NewWorkflow));

const StartDialog = lazy(() => import('../parts/start/start-dialog.tsx').then((part) => part.StartDialog));

/** All workflows of the daemon, with their last runs. */
export function Workflows() {
  useTitle('Workflows');
  useEffect(followWorkflows, []);
  const all = workflows.value;
  const problem = workflowsProblem.value;
  if (all !== null) return all.length === 0 ? <Empty /> : <WorkflowTable all={all} />;
  return <LoadingOrProblem what="Workflows" problem={problem} retry={readWorkflows} />;
}

function Empty() {
  return (
    <section class="empty">
      <h1>No workflows yet</h1>
      <p>The daemon shows the workflow files of its directory. This writes a first one:</p>
      <pre>wf init hello.yaml</pre>
      {!isReadOnly.value && <p>Or write it here:</p>}
      <NewButton />
    </section>
  );
}

function NewButton() {
  const isOpen = useSignal(false);
  if (isReadOnly.value) return null;
  return (
    <>
      <Button text="New" onClick={() => (isOpen.value = true)} />
      {isOpen.value && <NewWorkflow onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function WorkflowTable({ all }: { all: readonly Workflow[] }) {
  const [query, change] = useQuery();
  const filter: WorkflowFilter = { find: query['find'] ?? '', tag: query['tag'] ?? '', only: query['only'] ?? '' };
  const shown = filterWorkflows(all, filter);
  const groups = new Map<string, Workflow[]>();
  for (const workflow of shown) {
    const group = isBroken(workflow) ? '' : workflow.group;
    groups.set(group, [...(groups.get(group) ?? []), workflow]);
  }
  return (
    <section>
      <div class="heading">
        <h1>
          Workflows <span class="count">{all.length}</span>
        </h1>
        <input
          type="search"
          class="find"
          aria-label="Find a workflow by name, tag or description"
          placeholder="Find a workflow"
          value={filter.find}
          onInput={(event) => change({ find: event.currentTarget.value })}
        />
        <Chips all={all} filter={filter} change={change} />
        <span class="space" />
        <NewButton />
      </div>
      {shown.length === 0 && (
        <p class="empty">
          No workflow matches.{' '}
          <Button class="plain" text="Show all" onClick={() => change({ find: '', tag: '', only: '' })} />
        </p>
      )}
      {[...groups].map(([group, rows]) => (
        <Group key={group} name={group} rows={rows} onTag={(tag) => change({ tag })} />
      ))}
    </section>
  );
}

type ChipsProps = {
  all: readonly Workflow[];
  filter: WorkflowFilter;
  change: (changes: Record<string, string>) => void;
};

function Chips({ all, filter, change }: ChipsProps) {
  const counts = Array.from(filters, ([name, has]) => ({ name, count: all.filter(has).length }));
  const shown = counts.filter(({ name, count }) => count > 0 || filter.only === name);
  return (
    <div class="chips">
      {shown.map(({ name, count }) => (
        <Button
          key={name}
          class="chip"
          text={`${name} ${count}`}
          aria-pressed={filter.only === name}
          onClick={() => change({ only: filter.only === name ? '' : name })}
        />
      ))}
      {filter.tag !== '' && (
        <Button class="chip" text={`#${filter.tag} ×`} aria-pressed onClick={() => change({ tag: '' })} />
      )}
    </div>
  );
}

function Group({ name, rows, onTag }: { name: string; rows: readonly Workflow[]; onTag: (tag: string) => void }) {
  return (
    <>
      {name !== '' && <h2 class="group">{name}</h2>}
      <ul class="card rows" aria-label={name === '' ? 'Workflows' : `Workflows in ${name}`}>
        {rows.map((workflow) =>
          isBroken(workflow) ? (
            <BrokenFile key={workflow.id} workflow={workflow} />
          ) : (
            <Row key={workflow.id} workflow={workflow} onTag={onTag} />
          ),
        )}
      </ul>
    </>
  );
}

function Row({ workflow, onTag }: { workflow: Workflow; onTag: (tag: string) => void }) {
  const { id, name, description, tags, lastRun } = workflow;
  return (
    <li class="row workflow">
      <span class="sign">{lastRun && <StatusIcon look={presentRunLook(lastRun)} />}</span>
      <span class="what">
        <a class="name" href={to.workflow(id)}>
          <bdi>{name}</bdi>
        </a>
        {tags.map((tag) => (
          <Button key={tag} class="tag" text={`#${tag}`} onClick={() => onTag(tag)} />
        ))}
        {description !== '' && (
          <span class="about" title={description}>
            {description}
          </span>
        )}
      </span>
      <span class="last">
        {lastRun ? <LastRun run={lastRun} recent={workflow.recent} /> : <span class="quiet">never run</span>}
      </span>
      <span class="recent">
        <Ticks recent={workflow.recent} />
      </span>
      <span class="next">
        {nextText(workflow)}
        <ScheduleSwitch workflow={workflow} />
      </span>
      {!isReadOnly.value && <StartButton id={id} name={name} />}
    </li>
  );
}

/** A link to the start form, which opens as a dialog here. */
function StartButton({ id, name }: { id: string; name: string }) {
  const isOpen = useSignal(false);
  return (
    <>
      <a
        class="button"
        href={to.start(id)}
        aria-label={`Start ${name}`}
        data-start
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
          event.preventDefault();
          event.stopPropagation();
          isOpen.value = true;
        }}
      >
        Start
      </a>
      {isOpen.value && <StartDialog id={id} name={name} onClose={() => (isOpen.value = false)} />}
    </>
  );
}

function LastRun({ run, recent }: { run: RunHead; recent: Workflow['recent'] }) {
  const successes = recent?.filter(({ status }) => status === 'succeeded').slice(0, 10) ?? [];
  const usual = median(successes.flatMap(({ durationMs }) => durationMs ?? []));
  return (
    <a href={to.run(run.runId)}>
      {presentRunLook(run).word}{' '}
      {isActive(run.status) ? (
        <Took ms={null} since={run.startedAt ?? run.createdAt} usual={usual} />
      ) : (
        <>
          <Ago at={run.finishedAt ?? run.createdAt} />
          {run.durationMs !== null && (
            <span class="quiet">
              , <Took ms={run.durationMs} since={null} usual={usual} />
            </span>
          )}
        </>
      )}
    </a>
  );
}

function nextText({ next, schedule, suspended, suspendedUntil }: Workflow) {
  if (schedule.start.length === 0) return null;
  if (suspended && suspendedUntil === null) return <span>suspended</span>;
  const at = suspended ? suspendedUntil : next;
  if (at === null) return null;
  return (
    <span>
      {suspended ? 'resumes' : 'next'} <Ago at={at} />
    </span>
  );
}

/** The row of a broken file: its problems, with the source lines if the login may read them. */
function BrokenFile({ workflow }: { workflow: Workflow }) {
  const text = useSignal<string | null>(null);
  const { id, file, diagnostics } = workflow;
  const name = file.slice(file.lastIndexOf('/') + 1);
  useEffect(() => {
    readWorkflow(id).then(
      ({ definition }) => (text.value = definition),
      // Without the text only the problems are shown.
      () => {},
    );
  }, [id]);
  return (
    <li class="row broken">
      <span class="sign" aria-hidden="true">
        ⚠
      </span>
      <div>
        <a class="name" href={to.workflow(id)}>
          <bdi>{name}</bdi>
        </a>
        <Diagnostics diagnostics={diagnostics} text={text.value} />
      </div>
      {!isReadOnly.value && (
        <a class="button" href={to.edit(id)} aria-label={`Edit ${name}`}>
          Edit
        </a>
      )}
    </li>
  );
}

const WIDTH = 7;
const HEIGHT = 22;
/** The smallest height, so that a run without a duration is visible. */
const LEAST_HEIGHT = 4;

/** The last runs of a workflow, the newest at the right: the colour of each is its status, its height its duration. */
function Ticks({ recent }: { recent: Workflow['recent'] }) {
  const { route } = useLocation();
  if (recent === null || recent.length === 0) return null;
  const longest = Math.max(1, ...recent.map(({ durationMs }) => durationMs ?? 0));
  const runs = recent.toReversed();
  const number = runs.length === 1 ? 'run' : `${runs.length} runs`;
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the links inside take the keys
    <svg
      class="ticks"
      width={runs.length * WIDTH}
      height={HEIGHT}
      role="group"
      aria-label={`last ${number}: ${countsText(recent.map(({ status }) => runLook(status)))}`}
      onClick={(event) => followSvgLink(event, (path) => route(pathOf(path)))}
    >
      {runs.map(({ runId, status, durationMs }, index) => {
        const look = runLook(status);
        const height = Math.max(LEAST_HEIGHT, Math.round((HEIGHT * (durationMs ?? longest)) / longest));
        return (
          // In SVG only the lower-case name is an attribute. By keyboard, the history of the workflow leads to the runs.
          <a key={runId} href={to.run(runId)} class={look.kind} tabindex={-1}>
            <title>{`${look.word}${durationMs === null ? '' : ` after ${formatDuration(durationMs)}`}`}</title>
            <rect class="tick-area" x={index * WIDTH} y="0" width={WIDTH} height={HEIGHT} />
            <rect x={index * WIDTH + 1} y={HEIGHT - height} width={WIDTH - 2} height={height} rx="1" />
          </a>
        );
      })}
    </svg>
  );
}
