import { isStep } from '#core/graph.ts';
import { type CheckedValue, checkParam } from '#core/param-rule.ts';
import type { ApprovalAnswer, Outputs } from '#core/run/run.ts';
import { isFinished, type RunState, stepNode, stepState } from '#core/run/run-state.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import type { ApprovalInput, ParamRule } from '#core/workflow.ts';
import type { RunControl } from '#store/store.ts';
import { WfError } from '#system/errors.ts';
import { didYouMean, nearNames } from '#system/near-names.ts';
import { matchesPattern } from '#system/pattern.ts';
import { referenceTo } from '../history/lost-run.ts';
import { type PastRun, requireRun } from '../history/past-run.ts';
import { noSuchStep } from '../history/run-reference.ts';
import type { StepAnswerOrder } from '../service.ts';
import type { StopTools } from './end-run.ts';

/** The dependencies of answering. */
export type AnswerTools = Pick<StopTools, 'history' | 'engine'> & {
  readonly control: Pick<RunControl, 'clearAnswer' | 'flushJournal'>;
};

/**
 * Answers a step that waits for approval, and resolves to the run when the answer is durable in its journal. The first
 * answer counts. Throws as `RunActions.answer` does.
 */
export async function answerStep(runId: string, order: StepAnswerOrder, tools: AnswerTools): Promise<PastRun> {
  const { history, engine, control } = tools;
  const { step, decision, by, comment } = order;
  const run = requireRun(runId, await history.read(runId));
  const { state } = run;
  if (!isStep(state.graph, step)) throw noSuchStep(step, state.graph);
  if (isFinished(state) || stepState(state, step).waitingFor !== 'approval') throw notWaiting(state, step);
  const { by: allowed = [], inputs: declared = [] } = stepNode(state, step).approval ?? {};
  if (!mayAnswer(allowed, by)) {
    throw new WfError('forbidden', `"${by}" may not answer step "${step}": only ${allowed.join(', ')} may`);
  }
  const inputs = decision === 'approved' ? checkedInputs(declared, order.inputs) : {};
  const isFirst = await engine.answer(referenceTo(run), { step, decision, by, comment, inputs });
  const answered = await untilAnswered(runId, step, tools);
  if (isFirst) control.clearAnswer(runId, step);
  const { approval } = stepState(answered.state, step);
  const answer = approval?.answer ?? null;
  if (isFirst && answer?.by === by && answer.answer === decision) return answered;
  throw answer === null ? notWaiting(answered.state, step) : alreadyAnswered(step, answer);
}

/** Resolves when the step waits no longer. An owner that dies meanwhile ends the run. */
async function untilAnswered(runId: string, step: string, { history, control }: AnswerTools): Promise<PastRun> {
  for (;;) {
    const run = requireRun(runId, await history.read(runId));
    if (isFinished(run.state) || stepState(run.state, step).waitingFor !== 'approval') {
      control.flushJournal(runId);
      return run;
    }
    for await (const event of history.follow(run, new AbortController().signal)) {
      if ('step' in event && event.step === step) break;
    }
  }
}

/** The only step of a run that waits for approval. Throws a `WfError` `conflict`, or `usage` if several do. */
export function onlyWaitingStep({ runId, waitingFor: waiting = [] }: RunSummary): string {
  const [first, ...others] = waiting;
  if (first === undefined) {
    throw new WfError('conflict', `nothing waits for approval in run ${runId}`, {
      help: '"wf history --waiting" lists the runs in which a step waits',
    });
  }
  if (others.length === 0) return first;
  throw new WfError('usage', `several steps wait for approval: ${waiting.join(', ')}`, { help: 'name one of them' });
}

function notWaiting(state: RunState, name: string): WfError {
  const { approval, status } = stepState(state, name);
  if (approval !== undefined && approval.answer !== null) return alreadyAnswered(name, approval.answer);
  return new WfError('conflict', `step "${name}" does not wait for approval: it is ${status.replace('_', ' ')}`);
}

function alreadyAnswered(
  name: string,
  { answer, by, comment }: { readonly answer: ApprovalAnswer; readonly by: string | null; readonly comment: string },
): WfError {
  const who = by === null ? (comment === '' ? '' : `: ${comment}`) : ` by ${by}`;
  return new WfError('conflict', `step "${name}" was already ${answer}${who}`);
}

/** Whether a user may answer an approval that names these users in `by`. */
export function mayAnswer(by: readonly string[], user: string): boolean {
  return by.length === 0 || by.includes(user);
}

/** The inputs with their defaults. Throws a `WfError` `invalid-params` that lists every fault. */
function checkedInputs(declared: readonly ApprovalInput[], given: Outputs): Outputs {
  const names = declared.map(({ name }) => name);
  const faults = Object.keys(given)
    .filter((name) => !names.includes(name))
    .map((name) => {
      const near = didYouMean(nearNames(name, names));
      const takes = names.length === 0 ? 'no inputs' : names.join(', ');
      return `unknown input "${name}": ${near === '' ? '' : `${near} `}the approval takes ${takes}`;
    });
  const values: Record<string, string> = {};
  for (const { name, default: value, rule } of declared) {
    const checked = checkInput(given[name] ?? value, rule);
    if ('fault' in checked) faults.push(`input "${name}" ${checked.fault}`);
    else values[name] = checked.value;
  }
  if (faults.length > 0) throw new WfError('invalid-params', faults.join('\n'));
  return values;
}

/** Checks the value of an input; an optional one that is left out is empty, whatever its type. */
export function checkInput(text: string, rule: ParamRule): CheckedValue {
  return text === '' && rule.required !== true ? { value: '' } : checkParam(text, rule, matchesPattern);
}
