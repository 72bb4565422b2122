import { dirname } from 'node:path';
import { shortId } from '../text/short-id.ts';
import { failuresHtml } from './failures-html.ts';
import { graphHtml } from './graph/graph-html.ts';
import { type Html, html } from './html.ts';
import { shareLogBudget } from './log/log-budget.ts';
import { overviewHtml } from './overview-html.ts';
import { pageFoot, pageHead } from './page.ts';
import { sourcesHtml } from './source-html.ts';
import { iconShapes } from './status.ts';
import { shownAttempts } from './step/attempt-html.ts';
import { type ReportStep, reportSteps } from './step/report-step.ts';
import { type StepContext, stepHtml } from './step/step-html.ts';
import { counted } from './text.ts';
import { timelineHtml } from './timeline.ts';
import type { LogName, ReportAssets, ReportView } from './view.ts';

/** Beyond this number only failed steps and the first ones are shown in full. */
const mostDetailed = 1000;

/**
 * Renders a run as one self-contained HTML page, in pieces to be written one after another. Logs are read piece by
 * piece, and never more of them than the page may hold.
 */
export function* renderReport(view: ReportView, assets: ReportAssets): Generator<string> {
  const steps = reportSteps(view);
  const places = { sources: view.sources, dir: view.summary.file === null ? null : dirname(view.summary.file) };
  yield pageHead(view, assets).markup;
  yield iconShapes().markup;
  yield overviewHtml(view).markup;
  yield '<main>\n';
  yield markup(failuresHtml(view, steps, places));
  yield markup(graphHtml(view, steps));
  yield markup(section('timeline', 'Timeline', timelineHtml(view, steps)));
  yield '<section id="steps"><h2>Steps</h2>\n<div class="tools" hidden></div>\n';
  yield* stepParts(view, steps, places);
  yield '</section>\n';
  const sources = sourcesHtml(places);
  yield markup(sources.length === 0 ? null : section('source', 'Workflow', html`${sources}`));
  yield '</main>\n';
  yield pageFoot(view, assets).markup;
}

function* stepParts(view: ReportView, steps: readonly ReportStep[], places: StepContext['places']): Generator<string> {
  const detailed = detailedSteps(steps);
  const anchors = new Map(detailed.map(({ summary, anchor }) => [summary.name, anchor]));
  const share = logShares(view, detailed);
  for (const step of detailed) {
    const { status } = step.summary;
    const isOpen = status === 'failed' || status === 'running' || detailed.length === 1;
    yield stepHtml(step, { view, places, anchors, share, isOpen }).markup;
  }
  const left = steps.length - detailed.length;
  if (left > 0)
    yield html`<p class="note">${counted(left, 'step')} more: <code>wf status ${shortId(view.summary.runId)}</code></p>`
      .markup;
}

function detailedSteps(steps: readonly ReportStep[]): readonly ReportStep[] {
  if (steps.length <= mostDetailed) return steps;
  const isUrgent = ({ summary, isHandler }: ReportStep) => summary.status === 'failed' || isHandler;
  const urgent = new Set(steps.filter(isUrgent).slice(0, mostDetailed));
  const others = steps.filter((step) => !urgent.has(step)).slice(0, mostDetailed - urgent.size);
  const chosen = new Set([...urgent, ...others]);
  return steps.filter((step) => chosen.has(step));
}

/** How many bytes of each log are shown; those of the last attempts at failed steps are the last to be cut. */
function logShares(view: ReportView, steps: readonly ReportStep[]): StepContext['share'] {
  const names = steps.flatMap((step) =>
    shownAttempts(step).flatMap(({ step: name, attempt }) => {
      const isUrgent = step.summary.status === 'failed' && attempt === step.summary.attempts;
      return (['stdout', 'stderr'] as const).map((stream) => ({ log: { step: name, attempt, stream }, isUrgent }));
    }),
  );
  const shares = shareLogBudget(names.map(({ log, isUrgent }) => ({ bytes: view.logs.size(log), isUrgent })));
  const byName = new Map(names.map(({ log }, index) => [keyOf(log), shares[index] ?? 0]));
  return (log) => byName.get(keyOf(log)) ?? 0;
}

function keyOf({ step, attempt, stream }: LogName): string {
  return `${stream} ${attempt} ${step}`;
}

function section(id: string, title: string, body: Html | null): Html | null {
  return body === null ? null : html`<section id="${id}"><h2>${title}</h2>${body}</section>\n`;
}

function markup(part: Html | null): string {
  return part?.markup ?? '';
}
