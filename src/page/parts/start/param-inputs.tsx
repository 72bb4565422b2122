import type { Signal } from '@preact/signals';
import { useMemo } from 'preact/hooks';
import type { WorkflowDetail } from '#run-view/api/types.ts';
import { acceptedNames, choicesOf, type Field, type Filled, faultOf } from '../../data/workflows/start-form.ts';
import { Button } from '../controls.tsx';

type InputProps = {
  readonly field: Field;
  readonly values: Filled['values'];
  /** The problem of the request, whose lines name fields. */
  readonly problem: string;
  readonly isDisabled?: boolean;
  readonly onValues: (values: Filled['values']) => void;
};

/** A parameter. An empty field keeps its default, unless the user chose an empty value. */
export function FieldInput({ field, values, problem, isDisabled = false, onValues }: InputProps) {
  const id = `param-${field.key}`;
  const { [field.key]: value, ...others } = values;
  const fault = faultOf(field.key, problem);
  const onValue = (next: string | null) => onValues(next === null ? others : { ...others, [field.key]: next });
  const isEmpty = value === '';
  return (
    <div class="field">
      <div class="field-head">
        <label for={id}>{field.label}</label>
        {!isDisabled && choicesOf(field) === null && (isEmpty || field.standard !== '') && (
          <Button
            class="plain"
            text={value === undefined ? 'Use an empty value' : 'Use the default'}
            onClick={() => onValue(value === undefined ? '' : null)}
          />
        )}
      </div>
      <TypedInput
        id={id}
        field={field}
        value={value ?? ''}
        placeholder={isEmpty ? 'empty' : field.standard}
        isInvalid={fault !== null}
        isDisabled={isDisabled}
        onValue={(text) => onValue(text === '' && value !== '' ? null : text)}
      />
      {field.accepts?.description !== undefined && (
        <p class="field-note" id={`${id}-about`}>
          {field.accepts.description}
        </p>
      )}
      <p class={fault === null ? 'field-note quiet' : 'field-note field-problem'} id={`${id}-note`}>
        {fault ?? noteOf(field, isEmpty)}
      </p>
    </div>
  );
}

type ValueProps = {
  readonly id: string;
  readonly label?: string;
  readonly value: string;
  readonly placeholder: string;
  readonly isInvalid: boolean;
  readonly isDisabled?: boolean;
  readonly onValue: (text: string) => void;
};

/** The control for the type of a parameter: a choice, a number, a hidden text, or any text. */
function TypedInput({ field, ...props }: ValueProps & { field: Field }) {
  const { id, value, placeholder, isInvalid, isDisabled = false, onValue } = props;
  const { accepts } = field;
  const choices = choicesOf(field);
  const shared = { id, value, disabled: isDisabled, 'aria-invalid': isInvalid, 'aria-describedby': describedBy(id) };
  if (choices !== null) {
    return (
      <select {...shared} onChange={(event) => onValue(event.currentTarget.value)}>
        <option value="">{field.standard === '' ? 'Choose a value' : `Default: ${field.standard}`}</option>
        {choices.map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    );
  }
  const onInput = (event: { readonly currentTarget: HTMLInputElement }) => onValue(event.currentTarget.value);
  if (accepts?.secret === true) {
    // Not a password field: a browser would offer to save the value.
    const own = { class: 'hidden-text', autocomplete: 'off', spellcheck: false } as const;
    return <input {...shared} {...own} type="text" placeholder={placeholder} onInput={onInput} />;
  }
  if (accepts?.type !== 'integer' && accepts?.type !== 'number') return <ValueInput {...props} />;
  const { type, minimum, maximum } = accepts;
  const limits = { min: minimum, max: maximum, step: type === 'integer' ? 1 : 'any' };
  return <input {...shared} {...limits} type="number" placeholder={placeholder} onInput={onInput} />;
}

/** A text of one or more lines: Enter starts, Shift-Enter inserts a line break. */
function ValueInput(props: ValueProps) {
  const lines = (props.value || props.placeholder).split('\n').length;
  return (
    <textarea
      id={props.id}
      aria-label={props.label}
      disabled={props.isDisabled}
      rows={Math.min(lines, 12)}
      value={props.value}
      placeholder={props.placeholder}
      spellcheck={false}
      autocomplete="off"
      aria-invalid={props.isInvalid}
      aria-describedby={describedBy(props.id)}
      onInput={(event) => props.onValue(event.currentTarget.value)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
        event.preventDefault();
        event.currentTarget.form?.requestSubmit();
      }}
    />
  );
}

/** The description of a parameter, if it has one, and its note. */
function describedBy(id: string): string {
  return `${id}-about ${id}-note`;
}

function noteOf({ isOpen, standard, isEvaluated, accepts }: Field, isEmpty: boolean): string {
  if (accepts?.required === true) return 'A value is required.';
  if (isEmpty) return 'The value is empty.';
  if (isOpen) return 'The file gives no value.';
  if (isEvaluated) return 'The default is evaluated at the start.';
  return standard === '' ? 'The default is empty.' : '';
}

type FreeProps = { workflow: WorkflowDetail; filled: Signal<Filled>; fault: (name: string) => string | null };

/** Parameters that the file mentions without declaring them. */
export function FreeParams({ workflow, filled, fault }: FreeProps) {
  const accepted = useMemo(() => acceptedNames(workflow), [workflow]);
  const { free } = filled.value;
  if (accepted === null && free.length === 0) return null;
  const change = (rows: Filled['free']) => (filled.value = { ...filled.value, free: rows });
  return (
    <fieldset class="free">
      <legend>More parameters</legend>
      <datalist id="free-names">
        {accepted?.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {free.map((row, index) => (
        <div class="free-row" key={index}>
          <input
            type="text"
            list="free-names"
            aria-label={`Name of parameter ${index + 1}`}
            placeholder="NAME"
            autocomplete="off"
            spellcheck={false}
            value={row.name}
            onInput={(event) => change(free.with(index, { ...row, name: event.currentTarget.value.trim() }))}
          />
          <ValueInput
            id={`free-${index}`}
            label={`Value of parameter ${index + 1}`}
            value={row.value}
            placeholder="value"
            isInvalid={row.name !== '' && fault(row.name) !== null}
            onValue={(value) => change(free.with(index, { ...row, value }))}
          />
          <Button
            class="plain"
            text="×"
            aria-label={`Remove parameter ${index + 1}`}
            onClick={() => change(free.toSpliced(index, 1))}
          />
          <p class="field-note field-problem" id={`free-${index}-note`}>
            {row.name === '' ? '' : fault(row.name)}
          </p>
        </div>
      ))}
      <Button text="Add a parameter" onClick={() => change([...free, { name: '', value: '' }])} />
    </fieldset>
  );
}
