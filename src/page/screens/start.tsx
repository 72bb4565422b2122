import { useComputed, useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect, useMemo } from 'preact/hooks';
import { useLocation, useRoute } from 'preact-iso';
import { pathOf, to } from '../api/address.ts';
import { api, ask } from '../api/client.ts';
import { ApiProblem } from '../api/problem.ts';
import type { WorkflowDetail } from '../api/types.ts';
import { isOffline } from '../data/connection.ts';
import { createResource } from '../data/resource.ts';
import { newRunId, startRun } from '../data/run-actions.ts';
import { type Field, fieldsOf, givenParams, startCommand } from '../data/start-form.ts';
import { isBroken } from '../data/workflow-state.ts';
import { Diagnostics } from '../parts/diagnostics.tsx';
import { Loading } from '../parts/loading.tsx';
import { ProblemBox } from '../parts/problem-box.tsx';
import { useQuery } from '../parts/use-query.ts';
import { useTitle } from '../parts/use-title.ts';

/** The form that starts a workflow. A link can fill it (`?p.DAY=2026-03-01`), and never starts by itself. */
export function Start(): JSX.Element {
  const { name = '' } = useRoute().params;
  const workflow = useMemo(
    () => createResource(() => ask(api.GET('/api/v2/workflows/{name}', { params: { path: { name } } }))),
    [name],
  );
  useEffect(() => void workflow.refresh(), [workflow]);
  const { value, problem } = workflow.known.value;
  useTitle(`Start ${value?.name ?? ''}`);
  if (value !== null) return <StartForm workflow={value} />;
  return problem === null ? <Loading /> : <ProblemBox problem={problem} retry={() => void workflow.refresh()} />;
}

function StartForm({ workflow }: { workflow: WorkflowDetail }): JSX.Element {
  const { route } = useLocation();
  const [query] = useQuery();
  const fields = useMemo(() => fieldsOf(workflow.params), [workflow]);
  const values = useSignal<Readonly<Record<string, string>>>(
    Object.fromEntries(
      fields.flatMap(({ key }) => (query[`p.${key}`] === undefined ? [] : [[key, query[`p.${key}`] ?? '']])),
    ),
  );
  const problem = useSignal<ApiProblem | null>(null);
  const isPending = useSignal(false);
  // Made once, so that a double click starts one run.
  const runId = useMemo(newRunId, [workflow]);
  const command = useComputed(() => startCommand(workflow.id, givenParams(fields, values.value)));
  const start = async (event: Event) => {
    event.preventDefault();
    if (isPending.value) return;
    isPending.value = true;
    problem.value = null;
    try {
      const run = await startRun(workflow.id, runId, givenParams(fields, values.value));
      route(pathOf(to.run(run.runId)));
    } catch (error) {
      problem.value = ApiProblem.of(error);
      isPending.value = false;
    }
  };
  return (
    <form class="start" onSubmit={(event) => void start(event)}>
      <h1>
        Start{' '}
        <a href={to.workflow(workflow.id)}>
          <bdi>{workflow.name}</bdi>
        </a>
      </h1>
      {workflow.description !== '' && <p class="quiet">{workflow.description}</p>}
      {isBroken(workflow) ? (
        <div class="card padded">
          <Diagnostics diagnostics={workflow.diagnostics} text={workflow.definition} />
        </div>
      ) : (
        <div class="card padded">
          {fields.length === 0 && <p class="quiet">This workflow has no parameters.</p>}
          {fields.map((field) => (
            <FieldInput
              key={field.key}
              field={field}
              value={values.value[field.key]}
              onValue={(value) => {
                const { [field.key]: _, ...rest } = values.value;
                values.value = value === null ? rest : { ...rest, [field.key]: value };
              }}
            />
          ))}
          {problem.value !== null && <ProblemBox problem={problem.value} />}
          <div class="form-buttons">
            <button type="submit" class="main" disabled={isPending.value || isOffline.value}>
              {isPending.value ? 'Starting' : 'Start'}
            </button>
            <code class="command">{command.value}</code>
          </div>
        </div>
      )}
    </form>
  );
}

type InputProps = {
  readonly field: Field;
  readonly value: string | undefined;
  /** Null: as the file has it. */
  readonly onValue: (value: string | null) => void;
};

/** A parameter: empty, it keeps its default, unless an empty value was chosen. */
function FieldInput({ field, value, onValue }: InputProps): JSX.Element {
  const id = `param-${field.key}`;
  const isMultiline = (value ?? field.standard).includes('\n');
  const common = {
    id,
    value: value ?? '',
    placeholder: field.standard,
    'aria-describedby': `${id}-note`,
    spellcheck: false,
    autocomplete: 'off',
  } as const;
  return (
    <div class="field">
      <label for={id}>{field.label}</label>
      {isMultiline ? (
        <textarea {...common} rows={4} onInput={(event) => onValue(event.currentTarget.value)} />
      ) : (
        <input
          {...common}
          type="text"
          onInput={(event) => onValue(event.currentTarget.value === '' ? null : event.currentTarget.value)}
        />
      )}
      <p class="field-note quiet" id={`${id}-note`}>
        {noteOf(field)}
      </p>
    </div>
  );
}

function noteOf({ isOpen, standard, isEvaluated }: Field): string {
  if (isOpen) return 'The file gives no value.';
  if (isEvaluated) return 'The default is evaluated at the start.';
  return standard === '' ? 'The default is empty.' : '';
}
