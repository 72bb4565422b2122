import type { StepSummary } from '../../../core/run/summary.ts';
import { logsHint, reportHint } from '../command-hints.ts';
import { type Html, html } from '../html.ts';
import { tailHtml } from '../log/tail-html.ts';
import { statusIcon } from '../status.ts';
import { stepLook } from '../status-look.ts';
import { counted, shortened } from '../text.ts';
import type { ChildView } from '../view.ts';

const mostFailures = 20;

/** The run of another workflow that a failed step made: its id, its failed steps, and the command that writes its report. */
export function childHtml(child: ChildView): Html {
  const { runId, workflow, steps, handlers } = child.summary;
  const failed = [...steps, ...handlers].filter(({ status }) => status === 'failed');
  const left = failed.length - mostFailures;
  return html`<div class="child"><p>Run <code>${runId}</code> of workflow <bdi>${workflow}</bdi>.
Its report: <code>${reportHint(runId)}</code></p>
${failed.slice(0, mostFailures).map((step) => failedStepHtml(step, child))}
${left > 0 ? html`<p class="note">${counted(left, 'more step')} failed.</p>` : null}</div>
`;
}

function failedStepHtml(step: StepSummary, { summary, logs, children }: ChildView): Html {
  const { name, status, error } = step;
  const inner = children.get(name);
  // The output of a step with a child run is the result of that run as JSON.
  const tail = inner === undefined ? tailHtml(step, logs) : null;
  const hint = logsHint(summary.runId, { step: name, attempt: null, stream: null });
  return html`<article class="failure">
<h4>${statusIcon(stepLook(status))}<bdi>${name}</bdi></h4>
<p><strong>${shortened(error ?? 'failed', 2000)}</strong></p>
${inner === undefined ? null : childHtml(inner)}
${tail === null ? null : html`<pre class="log" tabindex="0" role="region" aria-label="last lines of ${name}">${tail}</pre>`}
${tail === null ? null : html`<p class="note">Its whole log: <code>${hint}</code></p>`}</article>
`;
}
