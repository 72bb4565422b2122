import type { AttemptRecord } from '../../../core/run/attempt-history.ts';
import { formatDuration, timeOfDay } from '../../text/duration.ts';
import { logsHint } from '../command-hints.ts';
import { type Html, html, trusted } from '../html.ts';
import { logHtml, type ShownLog } from '../log/log.ts';
import { statusIcon } from '../status.ts';
import { stepLook } from '../status-look.ts';
import type { LogName, ReportView } from '../view.ts';
import type { ReportStep } from './report-step.ts';

/** Of many attempts at a step the first few and the last are shown. */
const firstShown = 3;
const lastShown = 20;

/** The attempts of which a report shows the logs. */
export function shownAttempts({ attempts }: ReportStep): readonly AttemptRecord[] {
  return attempts.length <= firstShown + lastShown
    ? attempts
    : [...attempts.slice(0, firstShown), ...attempts.slice(-lastShown)];
}

/** One attempt with a log for each stream; `share` is how many bytes of a log may be shown. */
export function attemptHtml(
  record: AttemptRecord,
  view: ReportView,
  { share, isLast }: { share: (log: LogName) => number; isLast: boolean },
): Html {
  const { step, attempt } = record;
  const streams = (['stdout', 'stderr'] as const).flatMap((stream) => {
    const log = { step, attempt, stream };
    return view.logs.size(log) === 0 ? [] : [streamHtml(log, view, share(log))];
  });
  const body = streams.length === 0 ? html`<p class="quiet">It printed nothing.</p>` : html`${streams}`;
  return html`<details class="attempt"${trusted(isLast ? ' open' : '')}><summary><h4>${headOf(record)}</h4></summary>${body}</details>
`;
}

function headOf(record: AttemptRecord): Html {
  const { attempt, end, startedAt, scheduledAt, endedAt, next } = record;
  const from = startedAt ?? scheduledAt;
  const look = stepLook(end?.status ?? 'running');
  const time = endedAt === null ? '' : ` after ${formatDuration(endedAt - from)}`;
  const why = end === null || end.message === '' || end.status === 'succeeded' ? '' : `: ${end.message}`;
  const waited = next === null ? '' : `, next after ${formatDuration(next.until - (endedAt ?? next.until))}`;
  const how = `${look.word}${time}${why}${waited}`;
  return html`${statusIcon(look)} Attempt ${attempt} <span class="quiet">${timeOfDay(from)} &middot; ${how}</span>`;
}

const streamNames = { stdout: 'standard output', stderr: 'standard error' } as const;

function streamHtml(log: LogName, { logs, summary }: ReportView, bytes: number): Html {
  const { step, attempt, stream } = log;
  const head = Math.floor(bytes / 4);
  const shown: ShownLog = logs.read(log, { head, tail: bytes - head });
  const label = `${streamNames[stream]} of ${step}, attempt ${attempt}`;
  const text = logHtml(shown, logsHint(summary.runId, log));
  return html`<h5>${streamNames[stream]}</h5>
<pre class="log ${stream}" tabindex="0" role="region" aria-label="${label}">${text}</pre>`;
}
