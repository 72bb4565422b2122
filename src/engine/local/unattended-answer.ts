import type { Step } from '#core/workflow.ts';
import type { GivenAnswer, RunRequest } from '../engine.ts';

/** The answer to an approval of a run for which no person is asked; null if one is. */
export function unattendedAnswer(
  { approval }: Pick<Step, 'approval'>,
  onApproval: RunRequest['onApproval'],
): Omit<GivenAnswer, 'step'> | null {
  const inputs = approval?.inputs ?? [];
  const missing = inputs.find(({ default: value, rule }) => rule.required === true && value === '');
  if (onApproval === undefined) return null;
  if (onApproval === 'reject')
    return { decision: 'rejected', by: null, comment: 'the run is not interactive', inputs: {} };
  if (missing !== undefined) {
    return { decision: 'rejected', by: null, comment: `the input "${missing.name}" is required`, inputs: {} };
  }
  const defaults = Object.fromEntries(inputs.map((input) => [input.name, input.default]));
  return { decision: 'approved', by: null, comment: 'by --on-approval', inputs: defaults };
}
