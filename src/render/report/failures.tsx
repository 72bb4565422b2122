import type { JSX } from 'preact';
import { failedSteps, isFailure } from '../../core/summary/failed-steps.ts';
import type { StepSummary } from '../../core/summary/summary.ts';
import { FailureBox } from '../../page/run-view/failure-box.tsx';
import { LastLines } from '../../page/run-view/log-text.tsx';
import { counted } from '../../page/run-view/step-text.ts';
import { explainingNode } from '../../page/run-view/view.ts';
import { readExcerpt } from '../../store/log-ends.ts';
import type { LogFile, RunLogs } from '../../store/logs.ts';
import { createLineSplitter } from '../text/lines.ts';
import { suggestRetry } from '../text/suggested-commands.ts';
import { logsHint, reportHint } from './command-hints.ts';
import { placeLink, type SourcePlaces } from './places.tsx';
import type { ChildView, ReportStep, ReportView } from './view.ts';

const MAX_FAILURES = 20;
const TAIL_LINES = 10;
const TAIL_BYTES = 16 * 1024;

type FailuresProps = {
  readonly report: ReportView;
  readonly steps: readonly ReportStep[];
  readonly places: SourcePlaces;
  readonly tails: Tails;
};

/** The last lines of failed steps, by `tailKey`. */
type Tails = ReadonlyMap<string, readonly string[]>;

function tailKey(runId: string, step: string): string {
  return `${runId} ${step}`;
}

/** Reads the last lines of the failed steps that `Failures` shows. */
export async function readTails({ view, logs, children }: ReportView, steps: readonly ReportStep[]): Promise<Tails> {
  const tails = new Map<string, readonly string[]>();
  const { runId } = view.run;
  for (const step of failedOf(steps.map((each) => each.step))) {
    tails.set(tailKey(runId, step.name), await tailOf(logs, explainingNode(step)));
    await addChildTails(children.get(step.name), tails);
  }
  return tails;
}

async function addChildTails(child: ChildView | undefined, tails: Map<string, readonly string[]>): Promise<void> {
  if (child === undefined) return;
  const { runId, steps, handlers } = child.summary;
  for (const step of failedOf([...steps, ...handlers])) {
    const inner = child.children.get(step.name);
    if (inner === undefined) tails.set(tailKey(runId, step.name), await tailOf(child.logs, explainingNode(step)));
    else await addChildTails(inner, tails);
  }
}

function failedOf<Step extends { readonly status: string }>(steps: readonly Step[]): readonly Step[] {
  return steps.filter(({ status }) => status === 'failed').slice(0, MAX_FAILURES);
}

/** Of two logs that of standard error comes last: programs report failures there. */
async function tailOf(
  logs: RunLogs | null,
  { name, attempts }: Pick<StepSummary, 'name' | 'attempts'>,
): Promise<readonly string[]> {
  if (attempts === 0 || logs === null) return [];
  let last: readonly string[] = [];
  for (const stream of [...(await logs.streams(name, attempts))].reverse()) {
    last = [...(await lastLines(logs.file(name, attempts, stream), TAIL_LINES - last.length)), ...last];
  }
  return last;
}

async function lastLines(file: LogFile, count: number): Promise<readonly string[]> {
  if (count === 0) return [];
  const { head, tail } = await readExcerpt(file, { head: 0, tail: TAIL_BYTES });
  const splitter = createLineSplitter('overwrite');
  return [...splitter.push(head), ...splitter.push(tail), ...splitter.flush()].slice(-count);
}

/**
 * The recap of the failures: the reason, the position in the file, the last lines, and the next command; null if
 * nothing failed.
 */
export function Failures({ report: { view, children }, steps, places, tails }: FailuresProps): JSX.Element | null {
  const failed = steps.filter(({ step }) => isFailure(step));
  if (failed.length === 0) return null;
  const { runId, finishedAt, file, strict = false } = view.run;
  const canRetry = finishedAt !== null && !(view.masked && file === null);
  return (
    <section id="failures">
      <h2>What failed</h2>
      {failed.slice(0, MAX_FAILURES).map(({ step, anchor, node }) => (
        <FailureBox key={anchor} step={step} isStrict={strict} href={`#${anchor}`} place={placeLink(node, places)}>
          <ChildRun child={children.get(step.name)} tails={tails} />
          <Tail runId={runId} step={step.name} tails={tails} />
        </FailureBox>
      ))}
      <MoreFailures count={failed.length - MAX_FAILURES} />
      {canRetry && (
        <p class="note">
          Retry what failed: <code>{suggestRetry(runId, '', view.masked)}</code>
        </p>
      )}
    </section>
  );
}

function MoreFailures({ count }: { count: number }): JSX.Element | null {
  return count > 0 ? <p class="note">{counted(count, 'more step')} failed.</p> : null;
}

/** The sub-run of a failed step: its id, its failed steps, and the command that writes its report. */
function ChildRun({ child, tails }: { child: ChildView | undefined; tails: Tails }): JSX.Element | null {
  if (child === undefined) return null;
  const { runId, workflow, strict = false } = child.summary;
  const failed = failedSteps(child.summary);
  return (
    <div class="child">
      <p>
        Run <code>{runId}</code> of workflow <bdi>{workflow}</bdi>. Report: <code>{reportHint(runId)}</code>
      </p>
      {failed.slice(0, MAX_FAILURES).map((step) => {
        const inner = child.children.get(step.name);
        return (
          <FailureBox key={step.name} step={step} isStrict={strict} href={null}>
            <ChildRun child={inner} tails={tails} />
            {/* The output of a step with a child run is the result of that run as JSON. */}
            {inner === undefined && <Tail runId={runId} step={step.name} tails={tails} />}
          </FailureBox>
        );
      })}
      <MoreFailures count={failed.length - MAX_FAILURES} />
    </div>
  );
}

type TailProps = { readonly runId: string; readonly step: string; readonly tails: Tails };

/** The last lines of a step. */
function Tail({ runId, step, tails }: TailProps): JSX.Element | null {
  const lines = tails.get(tailKey(runId, step)) ?? [];
  if (lines.length === 0) return null;
  return (
    <>
      <LastLines lines={lines} label={`Last lines of ${step}`} />
      <p class="note">
        Full log: <code>{logsHint(runId, { step, attempt: null, stream: null })}</code>
      </p>
    </>
  );
}
