import { retryCommand } from '../views/recap-commands.ts';
import { logsHint } from './command-hints.ts';
import { type Html, html } from './html.ts';
import { tailHtml } from './log/tail-html.ts';
import { placeLink, type SourcePlaces } from './source-html.ts';
import { statusIcon } from './status.ts';
import { stepLook } from './status-look.ts';
import { childHtml } from './step/child-html.ts';
import type { ReportStep } from './step/report-step.ts';
import { counted, shortened } from './text.ts';
import type { ReportView } from './view.ts';

const mostFailures = 20;

/** The recap of what failed: why, where in the file, the last lines, and what to type next; null when nothing did. */
export function failuresHtml(view: ReportView, steps: readonly ReportStep[], places: SourcePlaces): Html | null {
  const failed = steps.filter(({ summary }) => summary.status === 'failed');
  if (failed.length === 0) return null;
  const left = failed.length - mostFailures;
  const { runId, finishedAt, file } = view.summary;
  const canRetry = finishedAt !== null && !(view.masked && file === null);
  return html`<section id="failures"><h2>What failed</h2>
${failed.slice(0, mostFailures).map((step) => failureHtml(step, view, places))}
${left > 0 ? html`<p class="note">${counted(left, 'more step')} failed.</p>` : null}
${!canRetry ? null : html`<p class="note">Run again what did not succeed: <code>${retryCommand(runId, '', view.masked)}</code></p>`}
</section>
`;
}

function failureHtml(step: ReportStep, view: ReportView, places: SourcePlaces): Html {
  const { name, status, error, attempts } = step.summary;
  const tail = tailHtml(step.summary, view.logs);
  const hint = logsHint(view.summary.runId, { step: name, attempt: null, stream: null });
  const often = attempts > 1 ? ` after ${counted(attempts, 'attempt')}` : '';
  const place = step.place === null ? null : html` at ${placeLink(step.place, places)}`;
  const child = view.children.get(name);
  return html`<article class="failure">
<h3>${statusIcon(stepLook(status))}<a href="#${step.anchor}"><bdi>${name}</bdi></a></h3>
<p><strong>${shortened(error ?? 'failed', 2000)}</strong>${often}${place}</p>
${child === undefined ? null : childHtml(child)}
${tail === null ? null : html`<pre class="log" tabindex="0" role="region" aria-label="last lines of ${name}">${tail}</pre>`}
${tail === null ? null : html`<p class="note">Its whole log: <code>${hint}</code></p>`}</article>
`;
}
