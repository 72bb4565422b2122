import { handlerName } from '../../../core/workflow.ts';
import { type Html, html } from '../html.ts';
import { statusIcon } from '../status.ts';
import { stepLook } from '../status-look.ts';
import type { ReportStep } from '../step/report-step.ts';
import { stepDetail } from '../step/step-text.ts';
import type { ReportView } from '../view.ts';
import { graphSvg } from './graph-svg.ts';

/** The drawing of the steps, and the handlers that follow them; null when the workflow is lost. */
export function graphHtml({ graph, run }: ReportView, steps: readonly ReportStep[]): Html | null {
  if (graph === null) return null;
  const svg = graphSvg(graph, steps);
  const drawing =
    svg === null
      ? html`<p class="note">The graph has too many steps to be followed in a drawing: what each depends on stands with the step.</p>`
      : html`<div class="scroll canvas" tabindex="0" role="region" aria-label="Graph">${svg}</div>`;
  const reached = new Set((run.handling?.handlers ?? []).map(handlerName));
  const handlers = steps.filter(({ summary }) => reached.has(summary.name));
  return html`<section id="graph"><h2>Graph</h2>
${drawing}
${handlers.length === 0 ? null : html`<p class="handlers"><span>then</span> ${handlers.map(handlerHtml)}</p>`}
</section>
`;
}

function handlerHtml(step: ReportStep): Html {
  const { name, status } = step.summary;
  const label = html`${statusIcon(stepLook(status))}${name} <span class="quiet">${stepDetail(step)}</span>`;
  return html`<a href="#${step.anchor}" class="chip ${status}">${label}</a> `;
}
