import { dirname } from 'node:path';
import type { RunSummary } from '#core/summary/summary.ts';
import type { GraphNode, RunView, StepView } from '#run-view/api/types.ts';
import type { LogStream, LogTime, RunLogs } from '#store/logs.ts';
import { fileText } from '../text/position-text.ts';
import { shellQuote } from '../text/suggested-commands.ts';
import { dateAndTime, shortId } from '../text/value-text.ts';

/** The data of a report: one run at one time. */
export type ReportView = {
  readonly view: RunView;
  /** The earlier run to compare the steps with; null if the workflow has none. */
  readonly earlier: RunSummary | null;
  /** Null if lost. */
  readonly logs: RunLogs | null;
  /** When a log grew, ascending. */
  readonly timesOf: (log: LogName) => Promise<readonly LogTime[]>;
  readonly now: number;
  readonly version: string;
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

/** The display name of a source. */
export function sourceName(path: string, { dir }: SourceNames): string {
  return fileText(path, dir);
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
      <code>{`${sourceName(path, names)}:${position.line}:${position.column}`}</code>
    </a>
  );
}

/** A timestamp for people and programs. */
export function moment(iso: string) {
  return <time dateTime={iso}>{zonedTime(Date.parse(iso))}</time>;
}

/** The command that prints the logs of a step in full. */
export function logsHint(
  runId: string,
  { step, attempt, stream = 'output' }: Partial<LogName> & { step: string },
): string {
  return [
    `wf logs ${shellQuote(shortId(runId))}`,
    ...(attempt === undefined ? [] : [`--attempt ${attempt}`]),
    ...(stream === 'output' ? [] : [`--stream ${stream}`]),
    // A name that starts with a dash must not be parsed as an option.
    ...(step.startsWith('-') ? ['--'] : []),
    shellQuote(step),
  ].join(' ');
}

/** The command that writes the report of a run. */
export function reportHint(runId: string): string {
  return `wf report ${shellQuote(shortId(runId))}`;
}
