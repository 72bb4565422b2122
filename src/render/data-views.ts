import { given } from '#core/data/collections.ts';
import { type Graph, nodeAt } from '#core/graph.ts';
import type { RunCreated, StoredEvent } from '#core/run/run.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Diagnostic } from '#language/diagnostic.ts';

/** The formats of `wf graph`. */
export const graphFormats = ['ascii', 'mermaid', 'dot', 'json'] as const;

/** One of `graphFormats`. */
export type GraphFormat = (typeof graphFormats)[number];

/**
 * Returns the graph as data: `{nodes: [{name, handler, executor, locks, workerSelector, artifacts, placed}], edges: [{from, to}]}`;
 * `handler` is null for a step.
 */
export function graphView(graph: Graph): object {
  const nodes = graph.nodes.map((node, number) => ({
    name: node.name,
    handler: number < graph.stepCount ? null : handlerKind(node.name),
    executor: node.executor.type,
    ...(node.locks === undefined ? {} : { locks: node.locks.map(({ name }) => name) }),
    ...(node.workerSelector === undefined ? {} : { workerSelector: node.workerSelector }),
    ...(node.artifacts === undefined ? {} : { artifacts: node.artifacts.map(({ path }) => path) }),
    ...(node.placed === undefined ? {} : { placed: node.placed.map(({ from }) => from) }),
  }));
  const edges = graphEdges(graph).map(([from, to]) => ({ from: nodeAt(graph, from).name, to: nodeAt(graph, to).name }));
  return { nodes, edges };
}

/** Returns every dependency as the indexes of its two nodes, in the order of the file. */
export function graphEdges(graph: Graph): readonly (readonly [from: number, to: number])[] {
  return graph.dependencies.flatMap((numbers, to) => numbers.map((from) => [from, to] as const));
}

/** Returns an event as JSON data with `type`, `runId` and `at` first; `docs/reference/events.md` documents it. */
export function eventJson(runId: string, { type, at, ...rest }: StoredEvent): object {
  const until = 'until' in rest && rest.until !== null ? { until: isoTime(rest.until) } : {};
  const holder =
    'holder' in rest && rest.holder !== null ? { ...rest.holder, since: isoTime(rest.holder.since) } : null;
  const created: Partial<RunCreated> = type === 'run.created' ? (rest as RunCreated) : {};
  const times = ['scheduledFor', 'previousFor', 'startBy', 'lateBy'] as const;
  const moment = Object.fromEntries(
    times.flatMap((name) => (created[name] === undefined ? [] : [[name, isoTime(created[name])]])),
  );
  return { type, runId, at: isoTime(at), ...rest, ...until, ...given({ holder }), ...moment };
}

/** Formats milliseconds since 1970-01-01 UTC as ISO 8601. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

/** Returns a problem as in `wf validate --json` and the API; without a `help` its label takes that place too. */
export function diagnosticJson({ severity, code, message, position, label, help }: Diagnostic) {
  return {
    severity,
    code,
    message,
    file: position?.file ?? null,
    line: position?.start.line ?? null,
    column: position?.start.column ?? null,
    endLine: position?.end.line ?? null,
    endColumn: position?.end.column ?? null,
    label: label === '' ? null : label,
    help: help ?? (label === '' ? null : label),
  };
}

/** Formats a diagnostic in one line, without its file: `3:5: unknown key "comand" (did you mean "command"?)`. */
export function diagnosticText({ message, position, label }: Diagnostic): string {
  const start = position === null ? '' : `${position.start.line}:${position.start.column}: `;
  return `${start}${message}${label === '' ? '' : ` (${label})`}`;
}
