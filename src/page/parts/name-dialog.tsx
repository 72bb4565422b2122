import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import type { ApiProblem } from '../api/client.ts';
import { useRequest } from '../data/resource.ts';
import { workflows } from '../data/workflows/all-workflows.ts';
import { FormDialog } from './dialog.tsx';
import { Diagnostics } from './problem-box.tsx';

/** The name of a workflow file without its extension, and its subdirectory. */
export type FileName = { readonly name: string; readonly group: string };

type NameDialogProps = {
  readonly title: string;
  readonly action: string;
  readonly given: FileName;
  /** Rejects with the daemon's refusal, which the open dialog then shows. */
  readonly onSubmit: (name: FileName) => Promise<void>;
  readonly onClose: () => void;
  readonly children?: ComponentChildren;
};

/** Asks for the name and the group of a workflow file. */
export function NameDialog({ given, onSubmit, children, ...props }: NameDialogProps) {
  const name = useSignal(given.name);
  const group = useSignal(given.group);
  const request = useRequest();
  const problem = request.problem.value;
  const isOfGroup = problem?.message.includes('be a group') === true;
  const groups = new Set(workflows.value?.map((workflow) => workflow.group));
  return (
    <FormDialog
      {...props}
      isReady={name.value.trim() !== ''}
      request={request}
      submit={() => onSubmit({ name: name.value.trim(), group: group.value.trim() })}
    >
      <TextField
        id="workflow-name"
        label="Name"
        value={name}
        note="The name of its file, without .yaml"
        problem={isOfGroup ? null : problem}
      />
      <TextField
        id="workflow-group"
        label="Group"
        value={group}
        note="A subdirectory such as ops/nightly; empty for none"
        problem={isOfGroup ? problem : null}
        list={[...groups].filter((each) => each !== '')}
      />
      {children}
    </FormDialog>
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

function TextField({ id, label, value, note, problem, list = [] }: TextFieldProps) {
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
        onInput={(event) => (value.value = event.currentTarget.value)}
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
