import type { JSX } from 'preact';
import type { StepSummary } from '../../core/run/summary.ts';
import { FailureBox } from '../../page/run-view/failure-box.tsx';
import { LastLines } from '../../page/run-view/log-text.tsx';
import { counted } from '../../page/run-view/step-text.ts';
import { createLineSplitter } from '../text/lines.ts';
import { retryCommand } from '../views/recap-commands.ts';
import { logsHint, reportHint } from './command-hints.ts';
import { placeLink, type SourcePlaces } from './places.tsx';
import type { ChildView, LogName, ReportLogs, ReportStep, ReportView } from './view.ts';

const MAX_FAILURES = 20;
const TAIL_LINES = 10;
const TAIL_BYTES = 16 * 1024;

type FailuresProps = {
  readonly report: ReportView;
  readonly steps: readonly ReportStep[];
  readonly places: SourcePlaces;
};

/** The recap of what failed: why, where in the file, the last lines, and what to type next; null when nothing did. */
export function Failures({ report: { view, logs, children }, steps, places }: FailuresProps): JSX.Element | null {
  const failed = steps.filter(({ step }) => step.status === 'failed');
  if (failed.length === 0) return null;
  const { runId, finishedAt, file } = view.run;
  const canRetry = finishedAt !== null && !(view.masked && file === null);
  return (
    <section id="failures">
      <h2>What failed</h2>
      {failed.slice(0, MAX_FAILURES).map(({ step, anchor, node }) => (
        <FailureBox key={anchor} step={step} href={`#${anchor}`} place={placeLink(node, places)}>
          <ChildRun child={children.get(step.name)} />
          <Tail runId={runId} step={step} logs={logs} />
        </FailureBox>
      ))}
      <MoreFailures count={failed.length - MAX_FAILURES} />
      {canRetry && (
        <p class="note">
          Run again what did not succeed: <code>{retryCommand(runId, '', view.masked)}</code>
        </p>
      )}
    </section>
  );
}

function MoreFailures({ count }: { count: number }): JSX.Element | null {
  return count > 0 ? <p class="note">{counted(count, 'more step')} failed.</p> : null;
}

/** The run of another workflow that a failed step made: its id, its failed steps, and the command that writes its report. */
function ChildRun({ child }: { child: ChildView | undefined }): JSX.Element | null {
  if (child === undefined) return null;
  const { runId, workflow, steps, handlers } = child.summary;
  const failed = [...steps, ...handlers].filter(({ status }) => status === 'failed');
  return (
    <div class="child">
      <p>
        Run <code>{runId}</code> of workflow <bdi>{workflow}</bdi>. Its report: <code>{reportHint(runId)}</code>
      </p>
      {failed.slice(0, MAX_FAILURES).map((step) => {
        const inner = child.children.get(step.name);
        return (
          <FailureBox key={step.name} step={step} href={null}>
            <ChildRun child={inner} />
            {/* The output of a step with a child run is the result of that run as JSON. */}
            {inner === undefined && <Tail runId={runId} step={step} logs={child.logs} />}
          </FailureBox>
        );
      })}
      <MoreFailures count={failed.length - MAX_FAILURES} />
    </div>
  );
}

type TailProps = {
  readonly runId: string;
  readonly step: Pick<StepSummary, 'name' | 'attempts'>;
  readonly logs: ReportLogs;
};

/** The last lines of a step. A program reports its failure on standard error: that has precedence and comes last. */
function Tail({ runId, step, logs }: TailProps): JSX.Element | null {
  const stderr = lastLines(logs, step, { stream: 'stderr', count: TAIL_LINES });
  const stdout = lastLines(logs, step, { stream: 'stdout', count: TAIL_LINES - stderr.length });
  if (stdout.length + stderr.length === 0) return null;
  return (
    <>
      <LastLines lines={[...stdout, ...stderr]} label={`Last lines of ${step.name}`} />
      <p class="note">
        Its whole log: <code>{logsHint(runId, { step: step.name, attempt: null, stream: null })}</code>
      </p>
    </>
  );
}

type Wanted = { readonly stream: LogName['stream']; readonly count: number };

function lastLines(
  logs: ReportLogs,
  { name, attempts }: TailProps['step'],
  { stream, count }: Wanted,
): readonly string[] {
  if (attempts === 0 || count === 0) return [];
  const { head, tail } = logs.read({ step: name, attempt: attempts, stream }, { head: 0, tail: TAIL_BYTES });
  const splitter = createLineSplitter('overwrite');
  return [...splitter.push(head), ...splitter.push(tail), ...splitter.flush()].slice(-count);
}
