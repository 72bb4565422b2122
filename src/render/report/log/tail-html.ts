import type { StepSummary } from '../../../core/run/summary.ts';
import { createLineSplitter } from '../../text/lines.ts';
import { type Html, trusted } from '../html.ts';
import { shortened } from '../text.ts';
import type { LogName, ReportLogs } from '../view.ts';
import { createAnsiLines } from './ansi.ts';

const tailLines = 10;
const tailBytes = 16 * 1024;
const longestLine = 2000;

/**
 * The last lines of a step, null where it printed nothing. A program reports its failure on standard error: that has precedence
 * and comes last.
 */
export function tailHtml(step: StepSummary, logs: ReportLogs): Html | null {
  const stderr = lastLines(logs, step, { stream: 'stderr', count: tailLines });
  const stdout = lastLines(logs, step, { stream: 'stdout', count: tailLines - stderr.length });
  const lines = [...stdout, ...stderr];
  const toMarkup = createAnsiLines();
  return lines.length === 0 ? null : trusted(lines.map((line) => `${toMarkup(line)}\n`).join(''));
}

type Wanted = { readonly stream: LogName['stream']; readonly count: number };

function lastLines(logs: ReportLogs, { name, attempts }: StepSummary, { stream, count }: Wanted): readonly string[] {
  if (attempts === 0 || count === 0) return [];
  const { head, tail } = logs.read({ step: name, attempt: attempts, stream }, { head: 0, tail: tailBytes });
  const splitter = createLineSplitter('overwrite');
  const lines = [...splitter.push(head), ...splitter.push(tail), ...splitter.flush()];
  return lines.slice(-count).map((line) => shortened(line, longestLine));
}
