import type { RunHead, StepView } from '#run-view/api/types.ts';
import { StatusIcon, WaitText } from '#run-view/components.ts';
import { countedName, presentLook, progressText, shownInstance, stepLook } from '#run-view/texts.ts';
import { to } from '../../api/address.ts';
import type { ShownRun } from '../../data/shown-run.ts';
import { Tabs } from '../../parts/controls.tsx';
import { onDemand, useQuery } from '../../parts/screen.tsx';
import { Ago } from '../../parts/time.tsx';

const SourceText = onDemand(() => import('#run-view/source.tsx').then((part) => part.SourceText));
const StepDetails = onDemand(() => import('./run-details.tsx').then((part) => part.StepDetails));

const Approval = onDemand(() => import('./approval.tsx').then((part) => part.Approval));
const StepMenu = onDemand(() => import('./run-menus.tsx').then((part) => part.StepMenu));
const InstanceLogs = onDemand(() => import('../../log/attempt-logs.tsx').then((part) => part.InstanceLogs));
const AttemptLogs = onDemand(() => import('../../log/attempt-logs.tsx').then((part) => part.AttemptLogs));

type StepProps = { readonly run: ShownRun; readonly step: StepView; readonly head: RunHead };

/** The selected step: its logs, its details, and its position in the file. */
export function StepPane({ run, step, head }: StepProps) {
  const [query, change] = useQuery();
  const view = run.view.value;
  const position = view?.graph?.nodes.find(({ name }) => name === step.name)?.place ?? null;
  const source = position === null ? undefined : view?.sources[position.source];
  const names = ['Logs', 'Details', ...(source === undefined ? [] : ['Source'])];
  const tab = names.find((name) => name.toLowerCase() === query['tab']) ?? 'Logs';
  const look = presentLook(step);
  const instance = step.items && shownInstance(step.items, query['item']);
  const child = view?.subRuns.find((each) => each.step === step.name)?.run.runId ?? instance?.child ?? step.child;
  return (
    <section class="card pane step-pane" aria-labelledby="step-title">
      <div class="pane-head">
        <StatusIcon look={look} />
        <h2 id="step-title">
          <bdi>{countedName(step)}</bdi>
        </h2>
        <span class="quiet">{step.items === undefined ? look.word : `${look.word}, ${progressText(step.items)}`}</span>
        <span class="space" />
        {child !== undefined && (
          <a href={to.run(child)}>
            {run.waitingSubRuns.value.some((each) => each.run.runId === child) ? 'Sub-run awaits approval' : 'Sub-run'}
          </a>
        )}
        <Tabs
          names={names}
          current={tab}
          label="Part of the step"
          keys={['4', '5', '6']}
          onChoose={(name) => change({ tab: name === 'Logs' ? '' : name.toLowerCase() })}
        />
        <StepMenu run={run} head={head} step={instance ?? step} />
      </div>
      {step.blocked !== undefined && (
        <p class="note">
          Waits <WaitText step={step} moment={(at) => <Ago at={at} />} />.{' '}
          {step.blocked.holder !== null && <a href={to.run(step.blocked.holder.runId)}>The run that holds it</a>}
        </p>
      )}
      {step.approval !== undefined && <Approval step={step} approval={step.approval} head={head} />}
      {tab === 'Logs' && step.items !== undefined && (
        <InstanceLogs run={run} step={step} instance={instance} items={step.items} runId={head.runId} />
      )}
      {tab === 'Logs' && step.items === undefined && <StepLogs run={run} step={step} head={head} />}
      {tab === 'Details' && <StepDetails run={run} step={step} />}
      {tab === 'Source' && source !== undefined && position !== null && (
        <SourceText path={source.path} text={source.text} marked={{ from: position.line, to: position.endLine }} />
      )}
    </section>
  );
}

function StepLogs({ run, step, head }: StepProps) {
  const [query, change] = useQuery();
  const attempts = step.history.map(({ attempt }) => attempt);
  const attempt = attempts.find((each) => String(each) === query['attempt']) ?? attempts.at(-1);
  if (attempt === undefined) return <p class="note">{step.error ?? 'The step has not started.'}</p>;
  return (
    <>
      {attempts.length > 1 && (
        <div class="attempts">
          <span class="quiet">Attempt</span>
          {step.history.map(({ attempt: each, status }) => (
            <button
              key={each}
              type="button"
              class="chip"
              aria-pressed={each === attempt}
              onClick={() => change({ attempt: each === attempts.at(-1) ? '' : String(each) }, '')}
            >
              <StatusIcon look={stepLook(status ?? step.status)} label={stepLook(status ?? step.status).word} /> {each}
            </button>
          ))}
        </div>
      )}
      <AttemptLogs key={attempt} run={run} step={step} attempt={attempt} runId={head.runId} />
    </>
  );
}
