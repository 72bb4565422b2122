import type { AttemptResult } from './attempt-result.ts';
import type { Draft } from './draft.ts';
import { record } from './draft.ts';
import type { RestoredStep, RunInput, ToleratedBy } from './run.ts';
import { type RunState, type StepState, stepNode, stepState } from './run-state.ts';
import { lastEnd, settle } from './settle.ts';

type Answer = Omit<Extract<RunInput, { type: 'answer' }>, 'type' | 'step'>;

/** The end of a step's last attempt, and the text for the person who decides. */
type Held = AttemptResult & {
  readonly tolerated: ToleratedBy | null;
  readonly prompt: string;
  /** For how long the step is held; 0: without a limit. */
  readonly limitMs: number;
};

/** Whether the step is held after this end of its last attempt, since its dependents would start. */
export function needsApproval(run: RunState, name: string, end: Pick<Held, 'status' | 'tolerated'>): boolean {
  const isPassing = end.status === 'succeeded' || (end.status === 'failed' && end.tolerated !== null);
  return isPassing && stepNode(run, name).approval !== undefined;
}

/** Holds a step until a person answers. */
export function hold(draft: Draft, at: number, { name, attempt, outputs }: StepState, end: Held): void {
  record(draft, {
    type: 'step.held',
    at,
    step: name,
    attempt,
    reason: end.reason,
    message: end.message,
    exitCode: end.exitCode,
    signal: end.signal,
    outputs: end.outputs ?? outputs,
    ...(end.tolerated === null ? {} : { tolerated: end.tolerated }),
    prompt: end.prompt,
    until: end.limitMs === 0 ? null : at + end.limitMs,
  });
}

/** Asks again for a step whose command ran in the run being retried. */
export function holdRestored(draft: Draft, at: number, restored: RestoredStep): void {
  const { step, outputs, before, held, tolerated } = restored;
  const limitMs = restored.limitMs ?? stepNode(draft.run, step).approval?.timeoutMs ?? 0;
  const { reason = null, message = '', exitCode = null, signal = null } = before ?? {};
  const asked = { tolerated: tolerated ?? null, prompt: held ?? '', limitMs };
  const result = { reason, message, exitCode, signal, outputs, ...asked };
  hold(draft, at, stepState(draft.run, step), { ...result, status: reason === null ? 'succeeded' : 'failed' });
}

/** Settles a held step as a person decided. The first answer counts; any other changes nothing. */
export function answer(draft: Draft, step: string, { at, decision, by, comment, inputs }: Answer): void {
  const state = stepState(draft.run, step);
  if (state.waitingFor !== 'approval') return;
  record(draft, { type: 'step.answered', at, step, answer: decision, by, comment, inputs });
  if (decision === 'approved') {
    settle(draft, at, state, { ...lastEnd(draft.run, state), outputs: { ...state.outputs, ...inputs } });
    return;
  }
  const who = by === null ? 'rejected' : `rejected by ${by}`;
  const why = comment.replace(/\s+/g, ' ').trim();
  const message = why === '' ? who : `${who}: ${why}`;
  settle(draft, at, state, { status: 'failed', reason: 'rejected', message, exitCode: null, signal: null });
}

/** Answers for the person who did not in time. */
export function expire(draft: Draft, at: number, { name, approval }: StepState): void {
  const limitMs = (approval?.until ?? at) - (approval?.heldAt ?? at);
  const { onTimeout = 'reject', inputs = [] } = stepNode(draft.run, name).approval ?? {};
  const comment = `not answered within ${limitMs / 1000}s`;
  const defaults = Object.fromEntries(inputs.map((input) => [input.name, input.default]));
  const isApproved = onTimeout === 'approve';
  const given = { decision: isApproved ? 'approved' : 'rejected', inputs: isApproved ? defaults : {} } as const;
  answer(draft, name, { at, by: null, comment, ...given });
}
