import type { StepStatus, Trigger } from '../../core/run/run.ts';
import type { RunSummary } from '../../core/run/summary.ts';
import { formatDuration, formatElapsed } from '../text/duration.ts';
import { fileText } from '../text/place-text.ts';
import { type Html, html } from './html.ts';
import { statusIcon } from './status.ts';
import { runLook, stepLook } from './status-look.ts';
import { factList, timeHtml } from './step/step-html.ts';
import { counted, shortened, zonedTime } from './text.ts';
import type { ReportView } from './view.ts';

const mostParams = 200;
const mostOfText = 2000;

const triggers: Readonly<Record<Trigger, string>> = {
  cli: 'the command line',
  api: 'the API',
  schedule: 'its schedule',
  workflow: 'a step of another workflow',
};

const countOrder: readonly StepStatus[] = [
  'failed',
  'succeeded',
  'running',
  'waiting',
  'scheduled',
  'canceled',
  'skipped',
  'upstream_failed',
  'pending',
];

/** The top of the page: what ran, how it ended, when, and what it was given. */
export function overviewHtml(view: ReportView): Html {
  const { summary } = view;
  const description = view.workflow?.description ?? '';
  const look = runLook(summary.status);
  return html`<header class="top ${look.kind}">
<h1>${statusIcon(look)}<bdi>${summary.workflow || 'unknown workflow'}</bdi></h1>
<p class="outcome"><strong>${look.word}</strong>${timeText(view)}</p>
${description === '' ? null : html`<p>${shortened(description, mostOfText)}</p>`}
${summary.error === null || summary.reason === 'step' ? null : html`<p class="error">${shortened(summary.error, mostOfText)}</p>`}
${summary.warnings.map((warning) => html`<p class="warning"><strong>Warning:</strong> ${shortened(warning, mostOfText)}</p>`)}
${countsHtml(summary)}
${runFacts(view)}
${paramsHtml(summary)}
</header>
`;
}

function timeText({ summary, now }: ReportView): string {
  if (summary.durationMs !== null) return ` after ${formatDuration(summary.durationMs)}`;
  if (summary.startedAt === null) return '';
  return ` for ${formatElapsed(now - Date.parse(summary.startedAt))} when this was written`;
}

/** How many steps ended how, as words and as a bar. */
function countsHtml({ steps }: RunSummary): Html {
  const counts = new Map<StepStatus, number>();
  for (const { status } of steps) counts.set(status, (counts.get(status) ?? 0) + 1);
  const present = countOrder.flatMap((status) =>
    counts.has(status) ? [{ status, count: counts.get(status) ?? 0 }] : [],
  );
  let left = 0;
  const bars = present.map(({ status, count }) => {
    const x = left;
    left += (count / steps.length) * 100;
    return html`<rect class="${status}" x="${x.toFixed(3)}%" width="${(left - x).toFixed(3)}%" height="6"/>`;
  });
  const words = present.map(({ status, count }) => {
    const look = stepLook(status);
    return html`<li class="${status}">${statusIcon(look)}${count.toLocaleString('en')} ${look.word}</li>`;
  });
  return html`<svg class="share" width="100%" height="6" aria-hidden="true">${bars}</svg><ul class="counts">${words}</ul>`;
}

function runFacts({ summary, workflow, now }: ReportView): Html {
  const { owner } = summary;
  return factList([
    ['Run', html`<code>${summary.runId}</code>`],
    ['Started by', html`${triggers[summary.trigger]}`],
    ['Started', timeHtml(summary.startedAt ?? summary.createdAt)],
    ['Finished', summary.finishedAt === null ? html`not yet, at ${zonedTime(now)}` : timeHtml(summary.finishedAt)],
    ['File', summary.file === null ? null : html`<code>${fileText(summary.file, null)}</code>`],
    ['Group', summary.group === '' ? null : html`${summary.group}`],
    ['Tags', workflow === null || workflow.tags.length === 0 ? null : html`${workflow.tags.join(', ')}`],
    ['Retry of', summary.retryOf === null ? null : html`<code>${summary.retryOf}</code>`],
    ['Process', owner === null ? null : html`${owner.pid} on <bdi>${owner.host}</bdi>`],
  ]);
}

function paramsHtml({ params }: RunSummary): Html | null {
  if (params.length === 0) return null;
  const rows = params.slice(0, mostParams).map(({ name, value }, index) => {
    const text = html`<code>${shortened(value, mostOfText)}</code>`;
    return html`<tr><th scope="row"><code>${name ?? `$${index + 1}`}</code></th><td>${text}</td></tr>`;
  });
  const left = params.length - rows.length;
  const note = left > 0 ? html`<p class="note">${counted(left, 'more parameter')}</p>` : null;
  return html`<table class="params"><caption>Parameters</caption><tbody>${rows}</tbody></table>${note}`;
}
