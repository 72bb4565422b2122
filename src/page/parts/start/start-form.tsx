import { useComputed, useSignal } from '@preact/signals';
import { useEffect, useMemo } from 'preact/hooks';
import { shortId } from '#render/text.ts';
import type { RunHead, WorkflowDetail } from '#run-view/api/types.ts';
import { runLook } from '#run-view/texts.ts';
import { api, ask } from '../../api/client.ts';
import { isOffline } from '../../data/connection.ts';
import { useRequest } from '../../data/resource.ts';
import { newRunId } from '../../data/run-requests.ts';
import {
  type Filled,
  faultOf,
  fieldsOf,
  filledByLink,
  filledByRun,
  givenParams,
  startCommand,
  startRequest,
  withoutSecrets,
} from '../../data/workflows/start-form.ts';
import { isBroken } from '../../data/workflows/workflow-filter.ts';
import { copyText } from '../../log/copy-text.ts';
import { Button } from '../controls.tsx';
import { Diagnostics, ProblemBox } from '../problem-box.tsx';
import { momentText } from '../time.tsx';
import { FieldInput, FreeParams } from './param-inputs.tsx';

type StartFormProps = {
  readonly workflow: WorkflowDetail;
  readonly query: Readonly<Record<string, string>>;
  readonly onStarted: (runId: string) => void;
};

/** The fields of the start form and its submit action. */
export function StartForm({ workflow, query, onStarted }: StartFormProps) {
  const fields = useMemo(() => fieldsOf(workflow), [workflow]);
  const { disableParamEdit = false } = workflow.runConfig ?? {};
  const filled = useSignal<Filled>(filledByLink(fields, disableParamEdit ? {} : query));
  const { problem, isPending, send } = useRequest();
  const params = useComputed(() => givenParams(fields, filled.value));
  // The same for the same parameters: a double click starts one run, and so does a second one after a lost response.
  const runId = useMemo(newRunId, [workflow.id, JSON.stringify(params.value)]);
  const shownParams = useComputed(() => givenParams(fields, withoutSecrets(fields, filled.value)));
  const start = (event: Event) => {
    event.preventDefault();
    void send(async () => {
      // Each parameter is one entry, so that no value is split.
      const body = { runId, ...(params.value === null ? {} : { params: [...params.value] }) };
      const request = api.POST('/api/v2/workflows/{name}/runs', { params: { path: { name: workflow.id } }, body });
      onStarted((await ask(request)).runId);
    });
  };
  if (isBroken(workflow)) return <Diagnostics diagnostics={workflow.diagnostics} text={workflow.definition} />;
  const fault = (name: string) => faultOf(name, problem.value?.message ?? '');
  const names = [...fields.map(({ key }) => key), ...filled.value.free.map(({ name }) => name)];
  const isShownBeside = problem.value !== null && names.some((name) => name !== '' && fault(name) !== null);
  const address = new URL(`api/v2/workflows/${encodeURIComponent(workflow.id)}/runs`, document.baseURI);
  return (
    <form class="start-form" noValidate onSubmit={start}>
      {disableParamEdit ? (
        <p class="quiet">The parameters cannot be changed: the file has runConfig.disableParamEdit.</p>
      ) : (
        <PastRuns workflow={workflow} onChoose={(run) => (filled.value = filledByRun(fields, run))} />
      )}
      {fields.length === 0 && <p class="quiet">This workflow declares no parameters.</p>}
      {fields.map((field) => (
        <FieldInput
          key={field.key}
          field={field}
          isDisabled={disableParamEdit}
          values={filled.value.values}
          problem={problem.value?.message ?? ''}
          onValues={(values) => (filled.value = { ...filled.value, values })}
        />
      ))}
      {!disableParamEdit && <FreeParams workflow={workflow} filled={filled} fault={fault} />}
      {problem.value !== null && !isShownBeside && <ProblemBox problem={problem.value} />}
      <div class="form-buttons">
        <button type="submit" class="main" disabled={isPending.value || isOffline.value}>
          {isPending.value ? 'Starting' : 'Start'}
        </button>
      </div>
      <Commands
        commands={[
          ['In a shell', 'command', startCommand(workflow.id, shownParams.value)],
          ['Over the API', 'request', startRequest(address.href, shownParams.value)],
        ]}
      />
    </form>
  );
}

/** Fills the form from a past run. */
function PastRuns(props: { workflow: WorkflowDetail; onChoose: (run: RunHead) => void }) {
  const { id, recent, params: declared } = props.workflow;
  // The choice has its place before the runs are known: nothing below it moves then.
  const runs = useSignal<readonly RunHead[] | null>(null);
  const mayExist = recent !== null && recent.length > 0;
  const isShown = runs.value === null ? declared.length > 0 : runs.value.length > 0;
  useEffect(() => {
    if (!mayExist) return;
    const params = { path: { name: id }, query: { limit: 20 } };
    ask(api.GET('/api/v2/workflows/{name}/runs', { params })).then(
      (page) => (runs.value = page.runs.filter((run) => run.params.length > 0)),
      // The form works without past runs.
      () => (runs.value = []),
    );
  }, [id]);
  if (!mayExist || !isShown) return null;
  return (
    <p class="as-of">
      <label for="as-of">As of run</label>
      <select
        id="as-of"
        onChange={(event) => {
          const run = runs.value?.find(({ runId }) => runId === event.currentTarget.value);
          if (run !== undefined) props.onChoose(run);
        }}
      >
        <option value="">Choose a run</option>
        {runs.value?.map((run) => (
          <option key={run.runId} value={run.runId}>
            {`${momentText(run.createdAt)}  ${runLook(run.status).word}  ${shortId(run.runId)}`}
          </option>
        ))}
      </select>
    </p>
  );
}

/** Commands that start the same run, to copy. */
function Commands({ commands }: { commands: readonly (readonly [string, string, string])[] }) {
  const copied = useSignal('');
  return (
    <dl class="commands">
      {commands.map(([title, name, text]) => (
        <div key={name}>
          <dt>{title}</dt>
          <dd>
            <code class={name}>{text}</code>
            <Button
              class="plain"
              text={copied.value === name ? 'Copied' : 'Copy'}
              aria-label={`Copy: ${title}`}
              onClick={() => void copyText(text).then((isCopied) => (copied.value = isCopied ? name : ''))}
            />
          </dd>
        </div>
      ))}
    </dl>
  );
}
