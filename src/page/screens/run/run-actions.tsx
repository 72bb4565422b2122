import { type Signal, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { ErrorBoundary, lazy } from 'preact-iso';
import type { RunHead } from '#run-view/api/types.ts';
import { to } from '../../api/address.ts';
import type { ApiProblem } from '../../api/problem.ts';
import { isOffline } from '../../data/connection.ts';
import { isReadOnly } from '../../data/daemon.ts';
import type { ShownRun } from '../../data/run.ts';
import { openAnswer } from '../../data/run-actions.ts';
import { isActive } from '../../data/workflows/workflow-state.ts';
import { AnswerButtons } from './answer-buttons.tsx';
import { hrefOfStep } from './run-address.ts';
import { StopButton } from './stop-button.tsx';
import { useRetry } from './use-retry.ts';

const RunMenu = lazy(() => import('./run-menus.tsx').then((part) => part.RunMenu));

type ActionProps = { readonly run: ShownRun; readonly head: RunHead; readonly chosen: string | null };

/** The actions on a run: stop it while it is active, retry it afterwards. */
export function RunActions({ run, head, chosen }: ActionProps): JSX.Element {
  const problem = useSignal<ApiProblem | null>(null);
  if (isReadOnly.value) return <span class="quiet">read-only</span>;
  return (
    <>
      {isActive(head.status) ? (
        <>
          <ApprovalLink head={head} />
          {openAnswer.value !== null && (
            <div class="answer-buttons">
              <AnswerButtons isPending={openAnswer.value === 'sending'} />
            </div>
          )}
          <SubRunLink run={run} />
          <StopButton run={run} head={head} problem={problem} />
        </>
      ) : (
        <>
          <RetryButtons head={head} chosen={chosen} problem={problem} />
          <ErrorBoundary>
            <RunMenu head={head} />
          </ErrorBoundary>
        </>
      )}
      {problem.value && (
        <p class="action-problem" role="alert">
          {problem.value.message}
          {problem.value.help && `. ${problem.value.help}`}
        </p>
      )}
    </>
  );
}

/** Links to the first step that waits for approval. */
function ApprovalLink({ head: { waitingFor = [] } }: { head: RunHead }): JSX.Element | null {
  const [first] = waitingFor;
  if (first === undefined) return null;
  return (
    <a class="button" data-key="a" href={hrefOfStep(first)} onClick={showStep}>
      {waitingFor.length === 1 ? `Answer ${shortName(first)}` : `Answer ${waitingFor.length} approvals`}
    </a>
  );
}

/** Links to the sub-run that waits for approval, or to all of them. */
function SubRunLink({ run }: { run: ShownRun }): JSX.Element | null {
  const waiting = run.waitingSubRuns.value;
  const [first] = waiting;
  if (first === undefined) return null;
  if (waiting.length > 1)
    return (
      <a class="button" href={to.runsAwaitingApproval}>
        {`Answer ${waiting.length} sub-runs`}
      </a>
    );
  return (
    <a
      class="button"
      href={to.run(first.run.runId)}
      title={`${first.step === null ? 'A sub-run' : `The run of ${first.step}`} waits for approval`}
    >
      Answer {shortName(first.run.waitingFor?.[0] ?? '')} in {shortName(first.run.workflow)}
    </a>
  );
}

/** On a narrow screen the step is below the visible area. */
function showStep(): void {
  document.querySelector('.step-pane')?.scrollIntoView({ block: 'nearest' });
}

function shortName(name: string): string {
  return name.length > 24 ? `${name.slice(0, 24)}…` : name;
}

type ProblemSignal = Signal<ApiProblem | null>;

type RetryProps = { readonly head: RunHead; readonly chosen: string | null; readonly problem: ProblemSignal };

function RetryButtons({ head, chosen, problem }: RetryProps): JSX.Element {
  const { isPending, retry } = useRetry(head.runId, problem);
  const isOff = isPending.value || isOffline.value;
  return (
    <>
      {chosen !== null && !chosen.startsWith('handlerOn.') && (
        <button type="button" disabled={isOff} onClick={() => void retry({ from: chosen })}>
          Retry from {shortName(chosen)}
        </button>
      )}
      {head.status !== 'succeeded' && (
        <button type="button" class="main" data-key="r" disabled={isOff} onClick={() => void retry({})}>
          {isPending.value ? 'Starting' : 'Retry what failed'}
        </button>
      )}
    </>
  );
}
