import type { Config } from '#config/config.ts';
import type { StartRequest } from '#service/runs/runs.ts';
import type { Console } from '../terminal/console.ts';

/** The values of `--on-approval`. */
export const approvalModes = ['wait', 'reject', 'approve'] as const;

/** The option for steps that wait for approval. */
export type ApprovalOption = { readonly onApproval?: (typeof approvalModes)[number] };

type Start = { readonly options: ApprovalOption & { readonly detach?: true }; readonly config: Config };

/**
 * Returns the part of a request that `--on-approval` decides. Without the option, approvals of a run in the foreground
 * are rejected in CI, where a job would wait until its time limit, and without history, where no command finds the run.
 */
export function approvalPolicy({ options, config }: Start, { env }: Pick<Console, 'env'>): ApprovalPolicy {
  const { onApproval, detach } = options;
  if (onApproval === 'wait') return {};
  if (onApproval !== undefined) return { onApproval };
  const isUnattended = isCi(env) || !config.settings.read('history').value;
  return isUnattended && !detach ? { onApproval: 'reject' } : {};
}

type ApprovalPolicy = Pick<StartRequest, 'onApproval'>;

function isCi({ CI = '' }: Console['env']): boolean {
  return CI !== '' && CI !== 'false' && CI !== '0';
}
