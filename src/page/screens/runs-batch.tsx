import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { counted } from '#run-view/step-text.ts';
import type { BatchAction, RunBatch } from '../data/batch.ts';
import { isOffline } from '../data/connection.ts';
import type { RunList } from '../data/runs.ts';
import { isActive } from '../data/workflows/workflow-state.ts';
import { ConfirmDialog } from '../parts/confirm-dialog.tsx';

const words = {
  stop: { ask: 'Stop', about: 'No further step of them starts; handlers still run.', done: 'stopped' },
  retry: { ask: 'Retry', about: 'Each starts a new run of the steps that did not succeed.', done: 'retried' },
  delete: { ask: 'Delete', about: 'Their logs are deleted too.', done: 'deleted' },
} as const satisfies Record<BatchAction, object>;

/** The actions on the selected runs, and the outcome of the last one. */
export function BatchBar({ batch, list }: { batch: RunBatch; list: RunList }): JSX.Element | null {
  const asked = useSignal<BatchAction | null>(null);
  const count = batch.chosen.value.size;
  const done = batch.done.value;
  const problem = batch.problem.value;
  if (count === 0 && done === null && problem === null && !batch.isPending.value) return null;
  const chosen = (list.runs.value ?? []).filter(({ runId }) => batch.chosen.value.has(runId));
  const active = chosen.filter(({ status }) => isActive(status)).length;
  const isOff = batch.isPending.value || isOffline.value;
  const button = (action: BatchAction, isPossible: boolean) => (
    <button
      type="button"
      class={action === 'retry' ? '' : 'danger'}
      disabled={isOff || !isPossible}
      onClick={() => {
        asked.value = action;
      }}
    >
      {words[action].ask}
    </button>
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
          <button type="button" class="plain" onClick={batch.clear}>
            Clear
          </button>
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
          onCancel={() => {
            asked.value = null;
          }}
        >
          <p>{words[asked.value].about}</p>
        </ConfirmDialog>
      )}
    </div>
  );
}
