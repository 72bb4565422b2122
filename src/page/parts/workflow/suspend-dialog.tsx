import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import type { Workflow } from '#run-view/api/types.ts';
import { ApiProblem } from '../../api/problem.ts';
import { now } from '../../data/clock.ts';
import { isOffline } from '../../data/connection.ts';
import { isUtc } from '../../data/settings.ts';
import { suspendSchedule } from '../../data/workflows/workflows.ts';
import { ProblemBox } from '../problem-box.tsx';
import { momentText, relativeText } from '../time.tsx';
import { useModal } from '../use-modal.ts';

const hourMs = 3_600_000;
const spans = [
  ['1 hour', hourMs],
  ['8 hours', 8 * hourMs],
  ['1 day', 24 * hourMs],
  ['1 week', 7 * 24 * hourMs],
] as const;

/** Suspends a schedule until a time. */
export function SuspendDialog({ workflow, onClose }: { workflow: Workflow; onClose: () => void }): JSX.Element {
  const dialog = useModal({ onClose });
  const until = useSignal(fieldText(now.value + 24 * hourMs));
  const problem = useSignal<ApiProblem | null>(null);
  const isPending = useSignal(false);
  const end = timeOf(until.value);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isPending.value || end === null) return;
    isPending.value = true;
    problem.value = null;
    try {
      await suspendSchedule(workflow.id, { suspended: true, until: new Date(end).toISOString() });
      onClose();
    } catch (error) {
      problem.value = ApiProblem.of(error);
    }
    isPending.value = false;
  };
  return (
    <dialog ref={dialog} class="form-dialog" aria-labelledby="suspend-title">
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="suspend-title">Suspend the schedule of {workflow.name}</h2>
        <div class="dialog-body">
          <p class="chips">
            {spans.map(([text, ms]) => (
              <button
                key={text}
                type="button"
                class="chip"
                onClick={() => {
                  until.value = fieldText(Date.now() + ms);
                }}
              >
                {text}
              </button>
            ))}
          </p>
          <div class="field">
            <label for="suspend-until">Until{isUtc.value && ' (UTC)'}</label>
            <input
              id="suspend-until"
              type="datetime-local"
              required
              aria-describedby="suspend-note"
              value={until.value}
              onInput={(event) => {
                until.value = event.currentTarget.value;
              }}
            />
            <p id="suspend-note" class="field-note">
              {end === null ? 'The time is not complete' : `${relativeText(now.value - end)}. `}
              Starts that are due before then are skipped. You can still start the workflow by hand.
            </p>
          </div>
          {problem.value !== null && <ProblemBox problem={problem.value} />}
        </div>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isPending.value || isOffline.value || end === null}>
            Suspend
          </button>
        </div>
      </form>
    </dialog>
  );
}

/** A timestamp as the value of a field, in the selected time zone: `2026-03-01T10:31`. */
function fieldText(at: number): string {
  return momentText(new Date(at)).slice(0, 16).replace(' ', 'T');
}

function timeOf(text: string): number | null {
  const at = Date.parse(isUtc.value ? `${text}Z` : text);
  return Number.isNaN(at) ? null : at;
}
