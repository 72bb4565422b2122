import type { DaemonClient } from '#client/daemon-client.ts';
import { listIn, textIn } from '#client/json-fields.ts';
import type { StoredEvent } from '#core/run/run.ts';
import type { ApprovalSummary } from '#core/summary/summary.ts';
import type { Reporter } from '#render/reporters.ts';
import { mayAnswer, userName } from '#service/control-runs.ts';
import type { Service } from '#service/service.ts';
import { messageOf } from '#system/errors.ts';
import { ApprovalPrompts, type Asked } from './approval-prompts.ts';

/** The questions about a run of a daemon. */
export type RemoteApprovals = ReturnType<typeof createRemoteApprovals>;

type RemoteQuestions = {
  readonly client: DaemonClient;
  readonly service: Service;
  readonly runId: string;
  readonly prompt: NonNullable<Reporter['prompt']>;
};

/**
 * Asks the person at the terminal about the steps of a daemon's run that wait for approval. The daemon decides about each answer, and a refused one is asked again
 * with the reason. If the login may not answer, the person is shown who may instead.
 */
export function createRemoteApprovals(run: RemoteQuestions) {
  const { client, runId, prompt } = run;
  const prompts = new ApprovalPrompts(prompt);
  let login: Promise<Login> | null = null;
  // One after the other, so that the end of a step withdraws its question.
  let taken = Promise.resolve();
  let isClosed = false;
  const take = async (event: StoredEvent) => {
    if (event.type === 'step.finished') prompts.withdraw(runId, event.step);
    if (event.type !== 'step.held') return;
    login ??= loginOf(client);
    const found = await questionOf(event.step, { ...run, login: await login });
    if (found === null || isClosed) return;
    if (found.refusal === null) prompts.ask(found.asked);
    else prompts.note(found.asked, found.refusal);
  };
  return {
    /** Takes each event of the run, from the first `step.held` on. */
    take: (event: StoredEvent) => {
      taken = taken.then(() => take(event)).catch((error: unknown) => client.tell(messageOf(error)));
    },
    close: () => {
      isClosed = true;
      prompts.close();
    },
  };
}

/** The permissions of the client's login; `name`: as in `by`, null if only the daemon knows it. */
type Login = { readonly isReadOnly: boolean; readonly name: string | null };

async function loginOf(client: DaemonClient): Promise<Login> {
  const session = await client.get('/session');
  // Without logins the daemon answers by the name of its own user.
  const name = listIn(session, 'logins').length === 0 ? null : (textIn(session, 'name') ?? 'token');
  return { isReadOnly: textIn(session, 'access') !== 'write', name };
}

/** Returns a question, and why this login may not answer it (else null); null if the step no longer waits. */
async function questionOf(
  step: string,
  { service: { runs }, runId, login }: RemoteQuestions & { readonly login: Login },
) {
  const { steps } = await runs.find(runId);
  const { approval, waitingFor } = steps.find(({ name }) => name === step) ?? {};
  if (approval === undefined || waitingFor !== 'approval') return null;
  const { prompt, allowed } = approval;
  const answer: Asked['answer'] = (given) =>
    runs.answer(runId, { step, by: userName(), ...given }).then(
      () => null,
      (error: unknown) => messageOf(error),
    );
  const asked = { runId, step, prompt, inputs: approval.input.map(readInput), answer };
  return { asked, refusal: refusalOf(allowed, login) };
}

function refusalOf(allowed: readonly string[], { isReadOnly, name }: Login): string | null {
  if (!isReadOnly && (name === null || mayAnswer(allowed, name))) return null;
  const who = allowed.length === 0 ? 'every login that can start runs' : allowed.join(', ');
  return `${who} can answer, this login is ${isReadOnly ? 'read-only' : `"${name}"`}`;
}

function readInput({
  name,
  default: value,
  secret,
  ...rule
}: ApprovalSummary['input'][number]): Asked['inputs'][number] {
  return { name, default: value, rule, isSecret: secret === true };
}
