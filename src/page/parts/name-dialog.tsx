import { useSignal } from '@preact/signals';
import type { ComponentChildren, JSX } from 'preact';
import { ApiProblem } from '../api/client.ts';
import { isOffline } from '../data/connection.ts';
import { workflows } from '../data/workflows/all-workflows.ts';
import { Diagnostics } from './problem-box.tsx';
import { useModal } from './use-modal.ts';

/** The name of a workflow file without its extension, and its subdirectory. */
export type FileName = { readonly name: string; readonly group: string };

type NameDialogProps = {
  readonly title: string;
  readonly action: string;
  readonly given: FileName;
  /** Rejects with the daemon's refusal, which the open dialog then shows. */
  readonly onSubmit: (name: FileName) => Promise<void>;
  readonly onClose: () => void;
  /** Further fields and notes. */
  readonly children?: ComponentChildren;
};

/** Asks for the name and the group of a workflow file. */
export function NameDialog({ title, action, given, onSubmit, onClose, children }: NameDialogProps): JSX.Element {
  const dialog = useModal({ onClose, focus: (shown) => shown.querySelector('input')?.select() });
  const name = useSignal(given.name);
  const group = useSignal(given.group);
  const problem = useSignal<ApiProblem | null>(null);
  const isPending = useSignal(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    if (isPending.value) return;
    isPending.value = true;
    problem.value = null;
    try {
      await onSubmit({ name: name.value.trim(), group: group.value.trim() });
    } catch (error) {
      problem.value = ApiProblem.of(error);
      isPending.value = false;
    }
  };
  const isOfGroup = problem.value?.message.includes('be a group') === true;
  return (
    <dialog ref={dialog} class="form-dialog" aria-labelledby="name-dialog-title">
      <form onSubmit={(event) => void submit(event)}>
        <h2 id="name-dialog-title">{title}</h2>
        <div class="dialog-body">
          <TextField
            id="workflow-name"
            label="Name"
            value={name}
            note="The name of its file, without .yaml"
            problem={isOfGroup ? null : problem.value}
          />
          <TextField
            id="workflow-group"
            label="Group"
            value={group}
            note="A subdirectory such as ops/nightly; empty for none"
            problem={isOfGroup ? problem.value : null}
            list={[...new Set(workflows.value?.map((workflow) => workflow.group) ?? [])].filter((each) => each !== '')}
          />
          {children}
        </div>
        <div class="dialog-buttons">
          <button type="button" onClick={() => dialog.current?.close()}>
            Cancel
          </button>
          <button type="submit" class="main" disabled={isPending.value || isOffline.value || name.value.trim() === ''}>
            {action}
          </button>
        </div>
      </form>
    </dialog>
  );
}

type TextFieldProps = {
  readonly id: string;
  readonly label: string;
  readonly value: { value: string };
  readonly note: string;
  readonly problem: ApiProblem | null;
  readonly list?: readonly string[];
};

function TextField({ id, label, value, note, problem, list = [] }: TextFieldProps): JSX.Element {
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input
        id={id}
        type="text"
        autocomplete="off"
        spellcheck={false}
        value={value.value}
        list={list.length === 0 ? undefined : `${id}-list`}
        aria-invalid={problem !== null}
        aria-describedby={`${id}-note`}
        onInput={(event) => {
          value.value = event.currentTarget.value;
        }}
      />
      {list.length > 0 && (
        <datalist id={`${id}-list`}>
          {list.map((each) => (
            <option key={each} value={each} />
          ))}
        </datalist>
      )}
      <p class={problem === null ? 'field-note quiet' : 'field-note field-problem'} id={`${id}-note`} role="status">
        {problem === null ? note : [problem.message, problem.help].filter(Boolean).join(': ')}
      </p>
      {problem !== null && problem.diagnostics.length > 0 && <Diagnostics diagnostics={problem.diagnostics} />}
    </div>
  );
}
