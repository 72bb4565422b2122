import type { AttemptRecord } from '../../core/run/attempt-history.ts';
import { stepState } from '../../core/run/run-state.ts';
import { formatDuration } from '../text/duration.ts';
import { type Html, html } from './html.ts';
import { statusIcon } from './status.ts';
import { stepLook } from './status-look.ts';
import type { ReportStep } from './step/report-step.ts';
import { counted } from './text.ts';
import { marks, percent, type TimeScale, timeScale } from './time-scale.ts';
import type { ReportView } from './view.ts';

const mostRows = 1000;
/** More rows than these are in a window of their own, so that what follows can be reached. */
const mostOpenRows = 80;
/** Of all rows together. */
const mostBars = 20_000;
/** In percent of the width: what is shorter could not be seen. */
const narrowest = 0.35;

/** When each step was at work and when it waited, one row a step in the order in which they began; null when none did. */
export function timelineHtml(view: ReportView, steps: readonly ReportStep[]): Html | null {
  const begun = steps.filter(({ attempts }) => attempts.length > 0).sort((a, b) => beginning(a) - beginning(b));
  const first = begun[0];
  if (first === undefined) return null;
  const scale = timeScale(view.run.startedAt ?? beginning(first), view.run.finishedAt ?? view.now);
  const shown = begun.slice(0, mostRows);
  const bars = Math.max(20, Math.floor(mostBars / shown.length));
  const rows = shown.map((step) => rowHtml(step, { scale, bars, readyAt: readyAt(step, view), now: view.now }));
  const left = begun.length - shown.length;
  const isTall = shown.length > mostOpenRows;
  const frame = isTall ? html`<div class="tall" tabindex="0" role="region" aria-label="Timeline">` : html`<div>`;
  return html`${frame}<table class="timeline" style="--mark:${(scale.markMs / (scale.to - scale.from)) * 100}%">
<thead><tr><th scope="col">Step</th>
<th scope="col" class="track"><span class="sr">Timeline</span>${axisSvg(scale)}</th>
<th scope="col" class="num">Time</th></tr></thead>
<tbody>${rows}</tbody></table></div>
${left === 0 ? null : html`<p class="note">${counted(left, 'step')} more started later.</p>`}
<p class="legend">${sample(html`<rect class="bar succeeded" y="1" width="22" height="8" rx="2"/>`)} an attempt
${sample(html`<path class="wait" d="M0 5h22"/>`)} waiting before the next attempt
${sample(html`<path class="queue" d="M0 5h22"/>`)} ready, waiting for a free place</p>`;
}

function sample(shape: Html): Html {
  return html`<svg width="22" height="10" aria-hidden="true">${shape}</svg>`;
}

function beginning({ attempts }: ReportStep): number {
  return attempts[0]?.scheduledAt ?? 0;
}

/** When nothing but a free place was missing to the step. */
function readyAt({ node, isHandler }: ReportStep, { run }: ReportView): number | null {
  if (node === null || isHandler || run.startedAt === null) return null;
  const ends = node.depends.map((name) => stepState(run, name).finishedAt ?? 0);
  return Math.max(run.startedAt, ...ends);
}

type RowOptions = {
  readonly scale: TimeScale;
  readonly bars: number;
  readonly readyAt: number | null;
  readonly now: number;
};

function rowHtml(step: ReportStep, { scale, bars, readyAt: ready, now }: RowOptions): Html {
  const { name, status, durationMs } = step.summary;
  const look = stepLook(status);
  const attempts = step.attempts.length > bars ? step.attempts.slice(-bars) : step.attempts;
  const queue =
    ready === null
      ? null
      : lineSvg('queue', scale, { from: ready, to: beginning(step), title: 'waited for a free place' });
  const time = durationMs === null ? '' : formatDuration(durationMs);
  const bar = html`${queue}${attempts.map((attempt) => attemptSvg(attempt, scale, now))}`;
  return html`<tr data-name="${name}" data-status="${status}">
<th scope="row"><a href="#${step.anchor}">${statusIcon(look)}<bdi>${name}</bdi></a></th>
<td class="track"><svg width="100%" height="22" role="img" aria-label="${attemptsText(step.attempts)}">${bar}</svg></td>
<td class="num">${time}</td></tr>
`;
}

function attemptSvg(record: AttemptRecord, scale: TimeScale, now: number): Html {
  const { startedAt, scheduledAt, endedAt, next } = record;
  const from = startedAt ?? scheduledAt;
  const end = endedAt ?? now;
  const left = Math.min(percent(scale, from), 100 - narrowest);
  const width = Math.max(narrowest, percent(scale, end) - left);
  const wait =
    next === null ? null : lineSvg('wait', scale, { from: end, to: next.until, title: `waited to ${next.why}` });
  const status = record.end?.status ?? 'running';
  return html`${wait}<rect class="bar ${status}" x="${left}%" y="4" width="${width.toFixed(2)}%" height="14" rx="3">
<title>${attemptText(record)}</title></rect>`;
}

type Line = { readonly from: number; readonly to: number; readonly title: string };

function lineSvg(kind: 'queue' | 'wait', scale: TimeScale, { from, to, title }: Line): Html | null {
  const [left, right] = [percent(scale, from), percent(scale, to)];
  if (right - left < narrowest) return null;
  return html`<line class="${kind}" x1="${left}%" x2="${right}%" y1="11" y2="11">
<title>${title} ${formatDuration(to - from)}</title></line>`;
}

function axisSvg(scale: TimeScale): Html {
  const texts = marks(scale).map(({ at, text }) => html`<text x="${at}%" dx="3" y="13">${text}</text>`);
  return html`<svg width="100%" height="18" aria-hidden="true">${texts}</svg>`;
}

/** How one attempt went, in words: `attempt 2: failed (exit 1) after 0.3s`. */
function attemptText({ attempt, startedAt, scheduledAt, endedAt, end }: AttemptRecord): string {
  if (end === null || endedAt === null) return `attempt ${attempt}: running`;
  const why = end.message === '' ? '' : ` (${end.message})`;
  return `attempt ${attempt}: ${end.status}${why} after ${formatDuration(endedAt - (startedAt ?? scheduledAt))}`;
}

function attemptsText(attempts: readonly AttemptRecord[]): string {
  const shown = attempts.slice(-10).map(attemptText).join('; ');
  return attempts.length > 10 ? `${attempts.length} attempts, the last of them: ${shown}` : shown;
}
