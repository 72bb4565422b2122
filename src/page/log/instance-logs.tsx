import type { StepView } from '#run-view/api/types.ts';
import { type Instance, instanceStep, presentLook } from '#run-view/texts.ts';
import type { ShownRun } from '../data/shown-run.ts';
import { useQuery } from '../parts/screen.tsx';
import { AttemptLogs } from './attempt-logs.tsx';

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
