import { useSignal } from '@preact/signals';
import type { Workflow } from '#run-view/api/types.ts';
import { ApiProblem } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { isReadOnly } from '../data/login-session.ts';
import { suspendSchedule } from '../data/workflows/all-workflows.ts';
import { hasSchedule } from '../data/workflows/workflow-filter.ts';
import { momentText } from './time.tsx';

/** Switches the schedule of a workflow on and off. The switch moves once the daemon has confirmed the change. */
export function ScheduleSwitch({ workflow }: { workflow: Workflow }) {
  const problem = useSignal<ApiProblem | null>(null);
  const { id, name, suspended, suspendedUntil, schedule } = workflow;
  if (!hasSchedule(schedule) || isReadOnly.value) return null;
  const until = suspendedUntil === null ? '' : ` until ${momentText(suspendedUntil)}`;
  const change = async () => {
    problem.value = null;
    try {
      await suspendSchedule(id, { suspended: !suspended });
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
  };
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={!suspended}
        aria-label={`Schedule of ${name}`}
        title={suspended ? `The schedule is suspended${until}` : 'The schedule is on'}
        disabled={isOffline.value}
        onClick={() => void change()}
      >
        <span class="knob" />
      </button>
      {problem.value !== null && (
        <span class="action-problem" role="alert">
          {problem.value.message}
        </span>
      )}
    </>
  );
}
