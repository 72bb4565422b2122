import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { api, ask } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import type { Workflow } from '../api/types.ts';
import { isOffline } from '../data/connection.ts';
import { isReadOnly } from '../data/daemon.ts';

/** Switches the schedule of a workflow on and off. The switch moves when the daemon has confirmed it. */
export function ScheduleSwitch({ workflow }: { workflow: Workflow }): JSX.Element | null {
  const problem = useSignal<ApiProblem | null>(null);
  const isPending = useSignal(false);
  const { id, name, suspended, schedule } = workflow;
  if (schedule.start.length + schedule.stop.length + schedule.restart.length === 0 || isReadOnly.value) return null;
  const change = async () => {
    isPending.value = true;
    problem.value = null;
    try {
      const body = { suspended: !suspended };
      await ask(api.PUT('/api/v2/workflows/{name}/suspended', { params: { path: { name: id } }, body }));
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
    isPending.value = false;
  };
  return (
    <>
      <button
        type="button"
        role="switch"
        class="switch"
        aria-checked={!suspended}
        aria-label={`Schedule of ${name}`}
        title={suspended ? 'The schedule is suspended' : 'The schedule is on'}
        disabled={isPending.value || isOffline.value}
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
