import type { StepStatus, StoredEvent } from '../../core/run/run.ts';
import type { StepAnswer, StepState } from '../../core/run/run-state.ts';
import type { Step } from '../../core/workflow.ts';
import { escapeControls } from './sanitize.ts';

/**
 * Returns in one line what a step runs, as written in the file: variables are not replaced and passwords in addresses are
 * removed, so that no secret is shown. Of several lines only the first command is shown.
 */
export function stepTitle(step: Step): string {
  const command = commandText(step);
  const script = step.script === null ? '' : firstLine(step.script);
  const work = command !== '' && script !== '' ? `${command}: ${script}` : command || script;
  const type = step.executor.type === 'command' ? '' : step.executor.type;
  return type !== '' && work !== '' ? `${type}: ${work}` : type || work;
}

function commandText(step: Step): string {
  if (step.executor.type === 'workflow') return firstLine(String(step.executor.config.run ?? ''));
  const command = step.command === null ? [] : typeof step.command === 'string' ? [step.command] : step.command;
  return firstLine([...command, ...step.args].join(' '));
}

/** Returns the first line that is neither empty nor a comment, with a mark if more lines follow. */
function firstLine(text: string): string {
  const lines = text.split('\n').filter((line) => line.trim() !== '' && !line.trimStart().startsWith('#'));
  const first = escapeControls(withoutPasswords((lines[0] ?? '').trim()));
  return lines.length > 1 ? `${first} ...` : first;
}

/** Masks a literal password: `https://user:***@host`. */
function withoutPasswords(text: string): string {
  return text.replace(/(:\/\/[^/@\s:?#]*):(?!\$)[^/@\s?#]+@/g, '$1:***@');
}

/** Returns `attempt 2 of 3`, or `repetition 7` for a repeating step; empty for a first attempt. */
export function attemptText(step: Step | undefined, attempt: number): string {
  if (attempt <= 1) return '';
  if (step?.repeat) return `repetition ${attempt}`;
  const most = (step?.retry.limit ?? 0) + 1;
  return attempt > most ? `attempt ${attempt}` : `attempt ${attempt} of ${most}`;
}

/** Returns the details of a running attempt: whether a service is `ready`, and its container. */
export function attemptPlace({ isReady, container }: Pick<StepState, 'isReady' | 'container'>): readonly string[] {
  const id = container === null ? [] : [`container ${escapeControls(container.id.slice(0, SHORT_CONTAINER_ID))}`];
  return [...(isReady ? ['ready'] : []), ...id];
}

/** The length of a container id as Docker prints it, in characters. */
const SHORT_CONTAINER_ID = 12;

/** Describes the answer to an approval: `approved by anna: looks good`; `by` null: no person answered. */
export function answerText({ answer, by, comment }: Answered): string {
  const text = by === null ? answer : `${answer} by ${escapeControls(by)}`;
  return comment === null || comment === '' ? text : `${text}: ${escapeControls(comment)}`;
}

/** The answer to an approval. */
export type Answered = Pick<StepAnswer, 'answer' | 'by'> & { readonly comment: string | null };

/** Returns the final status of a step in words: `not run` for a step whose dependency failed. */
export function stepStatusText(status: StepStatus): string {
  switch (status) {
    case 'upstream_failed':
      return 'not run';
    case 'pending':
      return 'not reached';
    case 'scheduled':
    case 'running':
    case 'waiting':
    case 'succeeded':
    case 'failed':
    case 'skipped':
    case 'canceled':
      return status;
  }
}

/** Whether the event settles a step that the selection of the run leaves out: a step of an earlier run has its end. */
export function settlesLeftOut({ status, before }: Extract<StoredEvent, { type: 'step.restored' }>): boolean {
  return status === 'skipped' && before === undefined;
}
