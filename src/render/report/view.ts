import type { RunSummary } from '../../core/summary/summary.ts';
import type { GraphNode, RunView, StepView } from '../../page/run-view/view.ts';
import type { LogStream, RunLogs } from '../../store/logs.ts';

/** What a report shows: one run at one moment. */
export type ReportView = {
  readonly view: RunView;
  /** The earlier run to compare the steps with; null if the workflow has none. */
  readonly earlier: RunSummary | null;
  /** Null if they are lost. */
  readonly logs: RunLogs | null;
  /** The runs of other workflows that steps made, as far as they are in the history, by step. */
  readonly children: ReadonlyMap<string, ChildView>;
  /** When the report is made, in milliseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** The version of this program. */
  readonly version: string;
};

/** What a report shows of a run that a step made. */
export type ChildView = {
  readonly summary: RunSummary;
  /** Null if they are lost. */
  readonly logs: RunLogs | null;
  readonly children: ReadonlyMap<string, ChildView>;
};

/** One of the two streams of an attempt. */
export type LogName = { readonly step: string; readonly attempt: number; readonly stream: LogStream };

/** What the page is made with besides the run. */
export type ReportAssets = {
  readonly css: string;
  readonly js: string;
  /** Of the script: its SHA-256 in base64. */
  readonly scriptHash: string;
};

/** A step or handler with its part of the page. */
export type ReportStep = {
  /** The id of that part. */
  readonly anchor: string;
  readonly step: StepView;
  /** Null if the stored workflow is lost. */
  readonly node: GraphNode | null;
  /** The names of the steps that it depends on. */
  readonly needs: readonly string[];
  readonly isHandler: boolean;
};

/** The steps in the order of the file, then the handlers in the order in which they ran. */
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
