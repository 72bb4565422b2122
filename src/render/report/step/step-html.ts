import { formatDuration } from '../../text/duration.ts';
import { stepTitle } from '../../text/step-title.ts';
import { logsHint, reportHint } from '../command-hints.ts';
import { type Html, html, trusted } from '../html.ts';
import { placeLink, type SourcePlaces } from '../source-html.ts';
import { statusIcon } from '../status.ts';
import { stepLook } from '../status-look.ts';
import { counted, shortened, zonedTime } from '../text.ts';
import type { LogName, ReportView } from '../view.ts';
import { attemptHtml, shownAttempts } from './attempt-html.ts';
import type { ReportStep } from './report-step.ts';

/** What a step's part of the page is made with. */
export type StepContext = {
  readonly view: ReportView;
  readonly places: SourcePlaces;
  /** Where the steps have their parts of the page, by name. */
  readonly anchors: ReadonlyMap<string, string>;
  /** How many bytes of a log may be shown. */
  readonly share: (log: LogName) => number;
  /** From the start; else a click opens it. */
  readonly isOpen: boolean;
};

const mostOfText = 2000;
const mostOfOutput = 4096;
const mostOutputs = 20;

/** Everything about one step or handler. */
export function stepHtml(step: ReportStep, context: StepContext): Html {
  const { name, status, error, durationMs, attempts } = step.summary;
  const look = stepLook(status);
  const kept = step.isKept ? 'kept from an earlier run' : '';
  const note = [error ?? '', kept, attempts > 1 ? counted(attempts, 'attempt') : '']
    .filter((text) => text !== '')
    .join(' · ');
  return html`<details class="step ${status}" data-name="${name}" data-status="${status}"${trusted(context.isOpen ? ' open' : '')}>
<summary><h3>${statusIcon(look)}<bdi>${name}</bdi><span class="sr">: ${look.word}</span></h3>
<span class="why">${note}</span><span class="num">${durationMs === null ? '' : formatDuration(durationMs)}</span></summary>
<div class="body" id="${step.anchor}">${errorHtml(step, context)}${factsHtml(step, context)}
${outputsHtml(step)}${attemptsHtml(step, context)}</div>
</details>
`;
}

function errorHtml({ summary, place }: ReportStep, { places }: StepContext): Html | null {
  if (summary.status !== 'failed') return null;
  const where = place === null ? null : html` at ${placeLink(place, places)}`;
  return html`<p class="error"><strong>${shortened(summary.error ?? 'failed', mostOfText)}</strong>${where}</p>`;
}

function factsHtml(step: ReportStep, { places, anchors }: StepContext): Html {
  const { summary, node, place } = step;
  const look = stepLook(summary.status);
  const isFailed = summary.status === 'failed';
  const facts: readonly (readonly [string, Html | null])[] = [
    [
      'Status',
      isFailed
        ? null
        : html`${look.word}${summary.error === null ? null : html`: ${shortened(summary.error, mostOfText)}`}`,
    ],
    ['Description', node?.description ? html`${node.description}` : null],
    ['Runs', node === null ? null : html`<code>${shortened(stepTitle(node), 500)}</code>`],
    ['Depends on', node === null || node.depends.length === 0 ? null : namesHtml(node.depends, anchors)],
    ['Exit code', summary.exitCode === null ? null : html`${summary.exitCode}`],
    ['Signal', summary.signal === null ? null : html`${summary.signal}`],
    ['Child run', summary.child === undefined ? null : html`<code>${reportHint(summary.child)}</code>`],
    ['Started', summary.startedAt === null ? null : timeHtml(summary.startedAt)],
    ['Finished', summary.finishedAt === null ? null : timeHtml(summary.finishedAt)],
    ['Defined at', place === null || isFailed ? null : placeLink(place, places)],
  ];
  return factList(facts);
}

/** Names with what is known of each; what is null is left out. */
export function factList(facts: readonly (readonly [string, Html | null])[]): Html {
  const rows = facts.flatMap(([name, value]) =>
    value === null ? [] : [html`<div><dt>${name}</dt><dd>${value}</dd></div>`],
  );
  return html`<dl class="facts">${rows}</dl>`;
}

/** A time for people and programs. */
export function timeHtml(iso: string): Html {
  return html`<time datetime="${iso}">${zonedTime(Date.parse(iso))}</time>`;
}

function namesHtml(names: readonly string[], anchors: ReadonlyMap<string, string>): Html {
  const links = names.map((name, index) => {
    const anchor = anchors.get(name);
    const label = html`<bdi>${name}</bdi>`;
    return html`${index === 0 ? '' : ', '}${anchor === undefined ? label : html`<a href="#${anchor}">${label}</a>`}`;
  });
  return html`${links}`;
}

function outputsHtml({ summary, masked }: ReportStep): Html | null {
  const outputs = Object.entries(summary.outputs);
  if (outputs.length === 0) return null;
  const rows = outputs.slice(0, mostOutputs).map(([name, value]) => {
    const text = masked.includes(name)
      ? html`<span class="quiet">hidden: it is or contains a secret</span>`
      : html`<pre tabindex="0">${shortened(value, mostOfOutput)}</pre>`;
    return html`<tr><th scope="row"><code>${name}</code></th><td>${text}</td></tr>`;
  });
  return html`<table class="outputs"><caption>Outputs</caption><tbody>${rows}</tbody></table>`;
}

function attemptsHtml(step: ReportStep, { view, share }: StepContext): Html | null {
  const shown = shownAttempts(step);
  if (shown.length === 0) return null;
  const left = step.attempts.length - shown.length;
  const hint = logsHint(view.summary.runId, { step: step.summary.name, attempt: null, stream: null });
  const last = shown.at(-1);
  const attempts = shown.map((record) => attemptHtml(record, view, { share, isLast: record === last }));
  if (left === 0) return html`${attempts}`;
  return html`${attempts}<p class="note">${counted(left, 'attempt')} between the first and the last left out.
Their logs: <code>${hint} --attempt N</code></p>`;
}
