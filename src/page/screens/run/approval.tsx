import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { RunHead, StepApproval, StepView } from '#run-view/api/types.ts';
import { answerText } from '#run-view/components.ts';
import { api, ask } from '../../api/client.ts';
import { isReadOnly, session } from '../../data/login-session.ts';
import { type ControlRequest, useRequest } from '../../data/resource.ts';
import { openAnswer } from '../../data/run-requests.ts';
import { type Field, faultOf } from '../../data/workflows/start-form.ts';
import { ConfirmDialog } from '../../parts/dialog.tsx';
import { ActionProblem } from '../../parts/problem-box.tsx';
import { useQuery } from '../../parts/screen.tsx';
import { FieldInput } from '../../parts/start/param-inputs.tsx';
import { Moment } from '../../parts/time.tsx';
import { ANSWER_FORM, AnswerButtons } from './answer-buttons.tsx';

type ApprovalProps = { readonly step: StepView; readonly approval: StepApproval; readonly head: RunHead };

/** The approval of a step: its prompt, and the answer or the form for one. */
export function Approval({ step, approval, head }: ApprovalProps) {
  // Kept outside of the form, which disappears when another user answers first.
  const request = useRequest();
  const problem = request.problem.value;
  const isWaiting = step.waitingFor === 'approval';
  const kind = isWaiting ? 'approval' : step.status;
  const names = approval.input.map(({ name }) => name);
  const isShownBeside = isWaiting && names.some((name) => faultOf(name, problem?.message ?? '') !== null);
  return (
    <section class={`approval-pane ${kind}`} aria-label={`Approval of ${step.name}`}>
      {approval.prompt !== '' && <p class="prompt">{approval.prompt}</p>}
      {isWaiting ? (
        <Question step={step} approval={approval} head={head} request={request} />
      ) : (
        approval.answer !== null && (
          <p>
            {answerText(approval, (at) => (
              <Moment at={at} />
            ))}
          </p>
        )
      )}
      {!isWaiting && approval.comment && <p class="quiet">{approval.comment}</p>}
      {!isShownBeside && <ActionProblem problem={problem} />}
    </section>
  );
}

type QuestionProps = ApprovalProps & { readonly request: ControlRequest };

/** The approval form for a user who may answer; otherwise a list of those who may. */
function Question({ step, approval, head, request }: QuestionProps) {
  const { input, allowed, until } = approval;
  const values = useSignal<Readonly<Record<string, string>>>({});
  const comment = useSignal('');
  const [, change] = useQuery();
  const isAsking = useSignal(false);
  const isPending = request.isPending.value;
  const send = async (answer: () => Promise<unknown>) => {
    // Without this a step that starts after the answer would be shown instead.
    change({ step: step.name });
    await request.send(answer);
    request.isPending.value = false;
  };
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (event.submitter?.getAttribute('value') === 'reject') isAsking.value = true;
    else approve();
  };
  const params = { path: { id: head.runId, step: step.name } };
  const approve = () => {
    const body = { inputs: values.value, comment: comment.value };
    void send(() => ask(api.POST('/api/v2/runs/{id}/steps/{step}/approve', { params, body })));
  };
  const reject = () => {
    isAsking.value = false;
    const body = { reason: comment.value };
    void send(() => ask(api.POST('/api/v2/runs/{id}/steps/{step}/reject', { params, body })));
  };
  // Whether this login may answer, as far as the page knows; the daemon decides.
  const name = session.value?.name ?? null;
  const mayAsk = !isReadOnly.value && (allowed.length === 0 || name === null || allowed.includes(name));
  useEffect(() => {
    if (!mayAsk) return;
    openAnswer.value = isPending ? 'sending' : 'open';
    return () => {
      openAnswer.value = null;
    };
  }, [mayAsk, isPending]);
  const about = <About allowed={allowed} until={until} />;
  if (!mayAsk) {
    return (
      <>
        {about}
        {input.length > 0 && <p class="quiet">It asks for {input.map(({ name }) => name).join(', ')}.</p>}
      </>
    );
  }
  return (
    <form id={ANSWER_FORM} class="start-form" noValidate onSubmit={submit}>
      {about}
      {input.map((rule) => (
        <FieldInput
          key={rule.name}
          field={fieldOf(rule)}
          values={values.value}
          problem={request.problem.value?.message ?? ''}
          onValues={(given) => (values.value = given)}
        />
      ))}
      <div class="field">
        <label for="approval-comment">Comment</label>
        <textarea
          id="approval-comment"
          rows={2}
          value={comment.value}
          onInput={(event) => (comment.value = event.currentTarget.value)}
        />
      </div>
      <div class="form-buttons">
        <AnswerButtons isPending={isPending} />
      </div>
      {isAsking.value && (
        <ConfirmDialog
          title={`Reject ${step.name}?`}
          action="Reject the step"
          onConfirm={reject}
          onCancel={() => (isAsking.value = false)}
        >
          <p>
            The step fails, and the steps after it do not run.
            {comment.value.trim() === '' && ' You have not written a comment that says why.'}
          </p>
        </ConfirmDialog>
      )}
    </form>
  );
}

/** The users that may answer, and the time limit. */
function About({ allowed, until }: Pick<StepApproval, 'allowed' | 'until'>) {
  if (allowed.length === 0 && until === null) return null;
  return (
    <p class="quiet">
      {allowed.length > 0 && `Only ${allowed.join(', ')} may answer. `}
      {until !== null && (
        <>
          It times out at <Moment at={until} />.
        </>
      )}
    </p>
  );
}

function fieldOf({ name, default: standard, ...rule }: StepApproval['input'][number]): Field {
  const flags = { required: rule.required === true, secret: rule.secret === true };
  const accepts = { ...rule, name, default: standard, ...flags } as Field['accepts'];
  return { key: name, label: name, standard, isEvaluated: false, isOpen: false, isPositional: false, accepts };
}
