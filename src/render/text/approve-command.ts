import type { RunSummary } from '#core/summary/summary.ts';
import { escapeControls } from './sanitize.ts';
import { shellQuote } from './shell-quote.ts';
import { shortId } from './short-id.ts';

/** Returns the command that approves a step. */
export function suggestApprove(runId: string, step: string, options = ''): string {
  // A name that starts with a dash must not be parsed as an option.
  const name = step.startsWith('-') ? `-- ${shellQuote(step)}` : shellQuote(step);
  return `wf approve${options} ${shellQuote(shortId(runId))} ${name}`;
}

/** A step that waits for approval: `go waits for approval: Ship it?`, and the commands to answer. */
export type PendingApproval = { readonly text: string; readonly approve: string; readonly reject: string };

/** The steps of a run that wait for approval. `options`: those by which a command reaches the run. */
export function pendingApprovals({ runId, steps }: RunSummary, options = ''): readonly PendingApproval[] {
  return steps
    .filter(({ waitingFor }) => waitingFor === 'approval')
    .map((step) => {
      const { name, approval } = step;
      const prompt = approval?.prompt ?? '';
      const approve = suggestApprove(runId, name, `${options}${neededInputs(approval?.input)}`);
      const reject = suggestApprove(runId, name, options).replace('wf approve', 'wf reject');
      const text = `${name} waits for approval${prompt === '' ? '' : `: ${prompt}`}`;
      return { text: escapeControls(text), approve, reject };
    });
}

/** An input of an approval. */
type Input = { readonly name: string; readonly default: string; readonly required?: boolean };

/** Returns the options for the inputs that an approval needs: ` -p WHY=...`, or nothing. */
export function neededInputs(inputs: readonly Input[] = []): string {
  const needed = inputs.filter(({ required, default: value }) => required === true && value === '');
  return needed.map(({ name }) => ` -p ${name}=...`).join('');
}
