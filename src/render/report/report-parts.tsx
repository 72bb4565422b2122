import { dirname } from 'node:path';
import type { RunSummary } from '#core/summary/summary.ts';
import type { GraphNode, RunView, StepAttempt, StepView } from '#run-view/api/types.ts';
import { AttemptLine, Instances, LogText, Spans, StepFacts, StepLine, StepOutputs } from '#run-view/components.ts';
import { counted, countedName, type EarlierRun, presentLook } from '#run-view/texts.ts';
import { type LogExcerpt, readExcerpt } from '#store/log-ends.ts';
import type { LogStream, LogTime, RunLogs } from '#store/logs.ts';
import { fileText } from '../text/position-text.ts';
import { shellQuote, suggestLogs } from '../text/suggested-commands.ts';
import { dateAndTime, shortId, timeOfDay } from '../text/value-text.ts';
import { cutLog, type LogSpan } from './report-log.ts';

/** The data of a report: one run at one time. */
export type ReportView = {
  readonly view: RunView;
  /** The earlier run to compare the steps with; null if the workflow has none. */
  readonly earlier: RunSummary | null;
  /** Null if lost. */
  readonly logs: RunLogs | null;
  /** When a log grew, ascending. */
  readonly timesOf: (log: LogName) => Promise<readonly LogTime[]>;
  /** The files that its steps have kept, in the order of the steps. */
  readonly artifacts: readonly ReportArtifact[];
  readonly now: number;
  readonly version: string;
};

/** A kept file. `content`: reads it in base64, if the report is to contain it. */
export type ReportArtifact = {
  readonly name: string;
  readonly bytes: number;
  readonly removed?: true;
  readonly content?: () => Promise<string>;
};

/** One of the two streams of an attempt. */
export type LogName = { readonly step: string; readonly attempt: number; readonly stream: LogStream };

/** The data of the page other than the run. */
export type ReportAssets = {
  readonly css: string;
  readonly js: string;
  /** The SHA-256 of the script, in base64. */
  readonly scriptHash: string;
};

/** A step or handler with its section. */
export type ReportStep = {
  readonly anchor: string;
  readonly step: StepView;
  /** Null if the stored workflow is lost. */
  readonly node: GraphNode | null;
  readonly needs: readonly string[];
  readonly isHandler: boolean;
};

/** The steps in file order, then the handlers in the order of their starts. */
export function reportSteps({ steps, handlers, graph }: RunView): readonly ReportStep[] {
  const nodes = new Map(graph?.nodes.map((node) => [node.name, node]));
  const needs = new Map<string, string[]>();
  for (const { from, to } of graph?.edges ?? []) needs.set(to, [...(needs.get(to) ?? []), from]);
  return [...steps, ...handlers].map((step, index) => ({
    anchor: `s${index + 1}`,
    step,
    node: nodes.get(step.name) ?? null,
    needs: needs.get(step.name) ?? [],
    isHandler: index >= steps.length,
  }));
}

/** The local date and time of the report with the offset from UTC, since a report may be read in another time zone. */
export function zonedTime(at: number): string {
  const minutes = -new Date(at).getTimezoneOffset();
  const two = (value: number) => String(Math.floor(Math.abs(value))).padStart(2, '0');
  const zone = minutes === 0 ? 'UTC' : `${minutes < 0 ? '-' : '+'}${two(minutes / 60)}:${two(minutes % 60)}`;
  return `${dateAndTime(at)} ${zone}`;
}

/** Names of source files and links to their lines in the page. */
export type SourceNames = {
  readonly sources: RunView['sources'];
  /** File names are relative to it; null: absolute. */
  readonly dir: string | null;
};

/** The sources of a run. */
export function sourceNames({ sources, run }: RunView): SourceNames {
  return { sources, dir: run.file === null ? null : dirname(run.file) };
}

/** The id of a line of a source. */
export function lineAnchor(source: number, line: number): string {
  return `l${source + 1}-${line}`;
}

/** The position of a step in its file, as a link; null if it is not known. */
export function positionLink(node: GraphNode | null, names: SourceNames) {
  const position = node?.place ?? null;
  if (position === null) return null;
  const path = names.sources[position.source]?.path ?? '-';
  return (
    <a href={`#${lineAnchor(position.source, position.line)}`}>
      <code>{`${fileText(path, names.dir)}:${position.line}:${position.column}`}</code>
    </a>
  );
}

/** A timestamp for people and programs. */
export function moment(iso: string) {
  return <time dateTime={iso}>{zonedTime(Date.parse(iso))}</time>;
}

/** The command that writes the report of a run. */
export function reportHint(runId: string): string {
  return `wf report ${shellQuote(shortId(runId))}`;
}

const FIRST_SHOWN = 3;
const LAST_SHOWN = 20;

/** The attempts whose logs a report shows. */
export function shownAttempts({ history }: StepView): readonly StepAttempt[] {
  if (history.length <= FIRST_SHOWN + LAST_SHOWN) return history;
  return [...history.slice(0, FIRST_SHOWN), ...history.slice(-LAST_SHOWN)];
}

/** How many bytes of a log may be shown. */
export type LogShare = (log: LogName) => number;

/** The displayed logs of a step, by `logKey`. */
type ShownLogs = ReadonlyMap<string, LogExcerpt & { readonly times: readonly LogTime[] }>;

/** Identifies a log of a run. */
export function logKey({ step, attempt, stream }: LogName): string {
  return `${stream} ${attempt} ${step}`;
}

/** Reads the displayed part of the logs of a step: a quarter of the limit from the start, the rest from the end. */
export async function readLogs({ logs, timesOf }: ReportView, step: StepView, share: LogShare): Promise<ShownLogs> {
  const shown = new Map<string, LogExcerpt & { readonly times: readonly LogTime[] }>();
  if (logs === null || step.items !== undefined) return shown;
  for (const { attempt } of shownAttempts(step)) {
    for (const stream of await logs.streams(step.name, attempt)) {
      const log = { step: step.name, attempt, stream };
      const head = Math.floor(share(log) / 4);
      const excerpt = await readExcerpt(logs.file(step.name, attempt, stream), { head, tail: share(log) - head });
      shown.set(logKey(log), { ...excerpt, times: await timesOf(log) });
    }
  }
  return shown;
}

type PartProps = {
  readonly shown: ReportStep;
  readonly report: ReportView;
  readonly earlier: EarlierRun | null;
  readonly names: SourceNames;
  readonly anchors: ReadonlyMap<string, string>;
  readonly logs: ShownLogs;
  /** Whether it is expanded initially. */
  readonly isOpen: boolean;
};

/** The section of one step or handler. */
export function StepPart({ shown, report, earlier, names, anchors, logs, isOpen }: PartProps) {
  const { step, node, anchor, needs } = shown;
  const { name, status, child } = step;
  const heading = (
    <h3 class="name">
      <bdi>{countedName(step)}</bdi>
    </h3>
  );
  return (
    <details class={`step ${presentLook(step).kind}`} data-name={name} data-status={status} open={isOpen}>
      <summary class="step-row">
        <StepLine step={step} now={report.now} name={heading} earlier={earlier} />
      </summary>
      <div class="details" id={anchor}>
        <StepFacts
          step={step}
          node={node}
          moment={moment}
          needs={needs.length === 0 ? null : <Names names={needs} anchors={anchors} />}
          position={positionLink(node, names)}
          child={child && <code>{reportHint(child)}</code>}
        />
        {step.items !== undefined && <Instances items={step.items} />}
        <StepOutputs step={step} />
        {step.items === undefined ? (
          <Attempts step={step} report={report} logs={logs} />
        ) : (
          <p class="note">
            The logs of its instances: <code>{suggestLogs(report.view.run.runId, name)}</code>
          </p>
        )}
      </div>
    </details>
  );
}

function Names({ names, anchors }: { names: readonly string[]; anchors: PartProps['anchors'] }) {
  return (
    <>
      {names.map((name, index) => {
        const anchor = anchors.get(name);
        const label = <bdi>{name}</bdi>;
        return (
          <>
            {index > 0 && ', '}
            {anchor === undefined ? label : <a href={`#${anchor}`}>{label}</a>}
          </>
        );
      })}
    </>
  );
}

type AttemptsProps = Pick<PartProps, 'report' | 'logs'> & { readonly step: StepView };

function Attempts({ step, report, logs }: AttemptsProps) {
  const shown = shownAttempts(step);
  if (shown.length === 0) return null;
  const left = step.history.length - shown.length;
  const hint = suggestLogs(report.view.run.runId, step.name, { part: ' --attempt N' });
  return (
    <>
      {shown.map((attempt) => (
        <details key={attempt.attempt} class="attempt" open={attempt === shown.at(-1)}>
          <summary>
            <h4>
              <AttemptLine attempt={attempt} moment={clockTime} />
            </h4>
          </summary>
          <Streams step={step.name} attempt={attempt.attempt} report={report} logs={logs} />
        </details>
      ))}
      {left > 0 && (
        <p class="note">
          {counted(left, 'attempt')} between the first and the last left out. Their logs: <code>{hint}</code>
        </p>
      )}
    </>
  );
}

function clockTime(iso: string) {
  return <time dateTime={iso}>{timeOfDay(Date.parse(iso))}</time>;
}

const streamNames = { output: 'output', stdout: 'standard output', stderr: 'standard error' } as const;

type StreamsProps = Pick<PartProps, 'report' | 'logs'> & { readonly step: string; readonly attempt: number };

function Streams({ step, attempt, report: { view }, logs }: StreamsProps) {
  const shown = (['output', 'stdout', 'stderr'] as const).flatMap((stream) => {
    const log = { step, attempt, stream };
    const excerpt = logs.get(logKey(log));
    return excerpt === undefined || excerpt.size === 0 ? [] : [{ log, excerpt }];
  });
  if (shown.length === 0) return <p class="quiet">No output.</p>;
  return (
    <>
      {shown.map(({ log, excerpt }) => {
        const { stream } = log;
        const part = ` --attempt ${attempt}${stream === 'output' ? '' : ` --stream ${stream}`}`;
        const { head: start, missing, tail } = cutLog(excerpt, excerpt.times);
        return (
          <div key={stream}>
            {stream !== 'output' && <h5>{streamNames[stream]}</h5>}
            <LogText label={`${streamNames[stream]} of ${step}, attempt ${attempt}`} kind={stream}>
              <TimedSpans spans={start} />
              {missing !== null && (
                <span class="cut" role="note">
                  {missing} left out here. Complete output: {suggestLogs(view.run.runId, step, { part })}
                </span>
              )}
              <TimedSpans spans={tail} />
            </LogText>
          </div>
        );
      })}
    </>
  );
}

/** The parts of a log. The script shows the times of its marks. */
function TimedSpans({ spans }: { readonly spans: readonly LogSpan[] }) {
  return (
    <>
      {spans.map((span) => (
        <>
          {span.at !== undefined && (
            <time
              dateTime={new Date(span.at).toISOString()}
              data-t={`${timeOfDay(span.at)}.${Math.floor((span.at % 1000) / 100)}`}
            />
          )}
          <Spans spans={[span]} />
        </>
      ))}
    </>
  );
}
