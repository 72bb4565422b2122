import { useSignal } from '@preact/signals';
import { useEffect, useMemo, useRef } from 'preact/hooks';
import { ErrorBoundary, lazy, useRoute } from 'preact-iso';
import { shortId } from '#render/text.ts';
import type { RunHead, StepView } from '#run-view/api/types.ts';
import { RunHeader } from '#run-view/components.ts';
import { runLook, runTitle } from '#run-view/texts.ts';
import { to } from '../../api/address.ts';
import { isReadOnly } from '../../data/login-session.ts';
import { ShownRun } from '../../data/shown-run.ts';
import { readWorkflow } from '../../data/workflows/all-workflows.ts';
import { isActive } from '../../data/workflows/workflow-filter.ts';
import { prepareLayout } from '../../graph/drawn-graph.ts';
import { Tabs } from '../../parts/controls.tsx';
import { LoadingOrProblem } from '../../parts/problem-box.tsx';
import { announce, onDemand, useQuery, useTitle } from '../../parts/screen.tsx';
import { Moment, now } from '../../parts/time.tsx';
import { hrefOfStep } from './run-address.ts';
import { RunPanels } from './run-panels.tsx';
import { StepPane } from './step-pane.tsx';

const RunActions = onDemand(() => import('./run-actions.tsx').then((part) => part.RunActions));
const RunFailures = lazy(() => import('./run-failures.tsx').then((part) => part.RunFailures));
const RunAbout = onDemand(() => import('./run-details.tsx').then((part) => part.RunAbout));

/** One run, followed while it is active. The address contains the selected step and view. */
export function Run() {
  const { id = '' } = useRoute().params;
  const run = useMemo(() => new ShownRun(id), [id]);
  useEffect(() => run.follow(), [run]);
  useEffect(() => void prepareLayout(), []);
  useEffect(() => {
    // With the run, so that they do not move what is below them. Drawing them reports a problem.
    RunFailures.preload().catch(() => {});
  }, []);
  const head = run.head.value;
  useTitle(head === null ? 'Run' : runTitle(head));
  if (head !== null) return <ShownRunScreen run={run} head={head} />;
  const elsewhere = { hrefOf: to.run, list: <a href={to.runs}>All runs</a> };
  return <LoadingOrProblem what="Run" problem={run.problem.value} retry={run.reload} elsewhere={elsewhere} />;
}

function ShownRunScreen({ run, head }: RunProps) {
  const [query] = useQuery();
  const steps = run.steps.value;
  const chosen = useChosenStep(steps, query['step']);
  useAnnouncements(head, steps);
  const failed = steps.filter(({ status }) => status === 'failed');
  const at = failed.findIndex(({ name }) => name === chosen?.name);
  const workflow = isReadOnly.value ? null : workflowOf({ run, head });
  const beside = { n: failed[at + 1] ?? failed[0], p: failed.at(at === -1 ? -1 : at - 1) };
  return (
    <div class="run">
      <div class="sr">
        {Object.entries(beside).map(
          ([key, step]) =>
            step !== undefined && (
              <a key={key} data-key={key} href={hrefOfStep(step.name)} tabIndex={-1}>
                {key === 'n' ? 'Next' : 'Previous'} failed step
              </a>
            ),
        )}
        {workflow !== null && (
          <a data-key="s" href={to.start(workflow)} tabIndex={-1}>
            Start the workflow
          </a>
        )}
      </div>
      <RunHeader
        run={head}
        steps={steps.slice(0, run.view.value?.steps.length)}
        now={now.value}
        usualMs={useUsual({ run, head })}
        name={<RunName run={run} head={head} />}
        facts={<Facts run={run} head={head} />}
        actions={
          <RunActions run={run} head={head} chosen={steps.find(({ name }) => name === query['step'])?.name ?? null} />
        }
      >
        <AboutRun run={run} head={head} />
      </RunHeader>
      {run.warnings.value.map((warning) => (
        <p key={warning} class="warning-line">
          {warning}
        </p>
      ))}
      {!isActive(head.status) && (
        <ErrorBoundary>
          <RunFailures run={run} steps={steps} />
        </ErrorBoundary>
      )}
      {chosen !== null && <PaneTabs step={chosen.name} />}
      <div class="panes" data-shown={shownPane(query)}>
        <RunPanels run={run} head={head} steps={steps} selected={chosen?.name ?? null} />
        {chosen !== null && <StepPane key={chosen.name} run={run} step={chosen} head={head} />}
      </div>
    </div>
  );
}

/** On a narrow screen one of the two panes is visible: the steps, until one is selected. */
function shownPane(query: Readonly<Record<string, string>>): 'steps' | 'step' {
  return query['step'] === undefined || query['pane'] === 'steps' ? 'steps' : 'step';
}

function PaneTabs({ step }: { step: string }) {
  const [query, change] = useQuery();
  const names = ['All steps', `Step ${step}`];
  return (
    <div class="pane-tabs">
      <Tabs
        names={names}
        current={names[shownPane(query) === 'steps' ? 0 : 1] ?? ''}
        label="Part of the run"
        onChoose={(name) => change(name === names[0] ? { pane: 'steps' } : { pane: '', step })}
      />
    </div>
  );
}

/** Announces the end of a run and failures of its steps, except those from before it was opened. */
function useAnnouncements(head: RunHead, steps: readonly StepView[]): void {
  const failed = steps.filter(({ status }) => status === 'failed').at(-1)?.name;
  const said = useRef({ failed, status: head.status });
  useEffect(() => {
    if (head.status !== said.current.status && !isActive(head.status))
      announce(`Run of ${head.workflow}: ${runLook(head.status).word}`);
    else if (failed !== undefined && failed !== said.current.failed) announce(`Step ${failed} failed`);
    said.current = { failed, status: head.status };
  }, [head.status, failed]);
}

type RunProps = { readonly run: ShownRun; readonly head: RunHead };

/** The id of the workflow of a run; null if its file no longer exists. */
function workflowOf({ run, head }: RunProps): string | null {
  if (head.file === null || run.view.value?.fileStatus === 'gone') return null;
  return head.file.replace(/^.*\//, '').replace(/\.ya?ml$/, '');
}

/** The usual duration of the workflow of a running run, in milliseconds; null: unknown. */
function useUsual({ run, head }: RunProps): number | null {
  const usual = useSignal<number | null>(null);
  const name = head.status === 'running' ? workflowOf({ run, head }) : null;
  useEffect(() => {
    if (name === null) return;
    readWorkflow(name).then(
      ({ file, medianMs }) => {
        if (file === head.file) usual.value = medianMs;
      },
      // The run is shown without an estimate.
      () => {},
    );
  }, [name]);
  return usual.value;
}

function RunName(props: RunProps) {
  const id = workflowOf(props);
  const name = <bdi>{props.head.workflow}</bdi>;
  return id === null ? name : <a href={to.workflow(id)}>{name}</a>;
}

function AboutRun({ run, head }: RunProps) {
  const view = run.view.value;
  const isOpen = useSignal(false);
  if (view === null) return null;
  return (
    <>
      {view.description !== '' && <p>{view.description}</p>}
      <details class="about-run" onToggle={(event) => (isOpen.value = event.currentTarget.open)}>
        <summary>About this run</summary>
        {isOpen.value && <RunAbout head={head} tags={view.tags} />}
      </details>
    </>
  );
}

const triggers = {
  cli: 'by command line',
  api: 'by the API',
  schedule: 'by schedule',
  workflow: 'by a step',
  retry: 'by its retry policy',
  backfill: 'by a backfill',
} as const;

function Facts({ run, head }: RunProps) {
  const fileStatus = run.view.value?.fileStatus;
  return (
    <span class="facts quiet">
      <span>
        started {triggers[head.trigger]} at <Moment at={head.startedAt ?? head.createdAt} />
      </span>
      {head.retryOf !== null && (
        <span>
          retry of <a href={to.run(head.retryOf)}>{shortId(head.retryOf)}</a>
        </span>
      )}
      {head.autoRetry?.at != null && (
        <span>
          retry {head.autoRetry.n + 1} of {head.autoRetry.limit} at <Moment at={head.autoRetry.at} />
        </span>
      )}
      {fileStatus === 'changed' && <span>the file has changed since</span>}
      {fileStatus === 'gone' && <span>the file no longer exists</span>}
      {head.params.map(({ name, value }, index) => (
        <code key={name ?? `$${index + 1}`}>{`${name ?? `$${index + 1}`}=${value}`}</code>
      ))}
    </span>
  );
}

/** The step of the address, else the default. A form for an approval stays, since it may contain a comment. */
function useChosenStep(steps: readonly StepView[], asked: string | undefined): StepView | null {
  const shown = useRef<string | undefined>(undefined);
  const isKept = ({ name, waitingFor }: StepView) => name === shown.current && waitingFor === 'approval';
  const chosen = steps.find(({ name }) => name === asked) ?? steps.find(isKept) ?? firstOfInterest(steps);
  useEffect(() => {
    shown.current = chosen?.name;
  });
  return chosen;
}

/** The first failure, else a step that waits for approval, else a running one, else the last one that ran. */
function firstOfInterest(steps: readonly StepView[]): StepView | null {
  const started = steps.filter(({ startedAt }) => startedAt !== null);
  const newest = started.toSorted((a, b) => Date.parse(b.startedAt ?? '') - Date.parse(a.startedAt ?? ''));
  return (
    steps.find(({ status }) => status === 'failed') ??
    steps.find(({ waitingFor }) => waitingFor === 'approval') ??
    newest.find(({ status }) => status === 'running') ??
    newest[0] ??
    steps[0] ??
    null
  );
}
