import { hasKeys } from '../../data/page-settings.ts';
import { Button } from '../controls.tsx';
import { useModal } from '../dialog.tsx';

const keys = [
  ['Ctrl K or ⌘ K', 'go to a workflow or a run'],
  ['/', 'find in the list'],
  ['g w', 'all workflows'],
  ['g r', 'all runs'],
  ['g s', 'the daemon'],
  ['j k', 'next and previous row; Enter opens it'],
  ['x', 'select a run in the list; X: all up to it'],
  ['s', 'start the workflow, or the one of the row'],
  ['r', 'retry what failed'],
  ['.', 'stop the run, after you confirm'],
  ['a', 'answer an approval'],
  ['n, p', 'next and previous failed step'],
  ['1 … 3', 'graph, timeline, steps'],
  ['4 … 6', 'logs, details, source of the step'],
  ['7', 'comparison with the last run'],
  ['8', 'files that the steps have kept'],
  ['[, ]', 'previous and next attempt'],
  ['f', 'follow a log'],
  ['c', 'copy a log, or the selected lines'],
  ['arrows', 'in the graph: along the edges'],
  ['t', 'times: local or UTC'],
  ['?', 'these keys'],
  ['Esc', 'close'],
] as const;

/** The keyboard shortcuts of the page. */
export function KeyHelp({ onClose }: { onClose: () => void }) {
  const dialog = useModal({ onClose, focus: (shown) => shown.querySelector('h2')?.focus() });
  return (
    <dialog ref={dialog} class="key-help" aria-labelledby="keys-title">
      <h2 id="keys-title" tabIndex={-1}>
        Keys
      </h2>
      <dl class="keys">
        {keys.map(([key, about]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{about}</dd>
          </div>
        ))}
      </dl>
      <label class="check">
        <input
          type="checkbox"
          checked={hasKeys.value}
          onChange={(event) => (hasKeys.value = event.currentTarget.checked)}
        />{' '}
        Single keys are on
      </label>
      <div class="dialog-buttons">
        <Button text="Close" onClick={() => dialog.current?.close()} />
      </div>
    </dialog>
  );
}
