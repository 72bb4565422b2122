import type { RunSummary } from '#core/summary/summary.ts';
import type { GraphNode, RunView, StepView } from '#run-view/view.ts';
import type { LogStream, LogTime, RunLogs } from '#store/logs.ts';

/** The data of a report: one run at one time. */
export type ReportView = {
  readonly view: RunView;
  /** The earlier run to compare the steps with; null if the workflow has none. */
  readonly earlier: RunSummary | null;
  /** Null if lost. */
  readonly logs: RunLogs | null;
  /** When a log grew, ascending. */
  readonly timesOf: (log: LogName) => Promise<readonly LogTime[]>;
  /** The time of the report, in milliseconds since 1970-01-01 UTC. */
  readonly now: number;
  /** The version of this program. */
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
  /** The id of the section. */
  readonly anchor: string;
  readonly step: StepView;
  /** Null if the stored workflow is lost. */
  readonly node: GraphNode | null;
  /** The names of its dependencies. */
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
