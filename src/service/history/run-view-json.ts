import { type Graph, nodeAt } from '#core/graph.ts';
import type { StepState } from '#core/run/run-state.ts';
import type { AttemptRecord } from '#core/summary/attempt-history.ts';
import { headOf } from '#core/summary/summarize.ts';
import type { RunHead, RunSummary, StepSummary } from '#core/summary/summary.ts';
import { handlerKind } from '#core/workflow.ts';
import { stepTitle } from '#render/text/run-text.ts';
import type { DrawnRun } from './draw-run.ts';

/** The last attempts of a step in a view; earlier attempts are left out. */
export const MAX_ATTEMPTS = 100;

/** Returns the JSON of a run for a page or a report, without the output of its steps. */
export function runViewJson(drawn: DrawnRun, maxAttempts = MAX_ATTEMPTS) {
  const { run, summary, attempts, sources, children, fileStatus } = drawn;
  const states = new Map(run.state.nodes.chunks.flat().map((state) => [state.name, state]));
  const view = (step: StepSummary) =>
    stepViewJson(counting(step, summary.strict), states.get(step.name), (name) =>
      (attempts.get(name) ?? []).slice(-maxAttempts),
    );
  const workflow = run.stored?.workflow;
  return {
    run: runHeadJson(summary),
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    warnings: summary.warnings,
    failures: summary.failures ?? [],
    moreFailures: summary.moreFailures ?? 0,
    steps: summary.steps.map(view),
    handlers: summary.handlers.map(view),
    graph: run.stored === null ? null : graphJson(run.state.graph, drawn),
    sources: sources.map(({ path, text }) => ({ path, text })),
    subRuns: Array.from(children, ([step, child]) => ({ step, run: runHeadJson(child) })),
    fileStatus,
    masked: run.stored?.masked === true,
  };
}

/** Returns a run without its steps, handlers, warnings and failures. */
function runHeadJson({ failures: _, moreFailures: __, ...summary }: RunSummary): RunHead {
  return headOf(summary);
}

/** Returns a step without what tolerated its failures if these fail the run, which is strict. */
export function counting(step: StepSummary, isStrict = false): StepSummary {
  if (!isStrict) return step;
  const { tolerated: _, items, ...own } = step;
  return items === undefined ? own : { ...own, items: items.map(({ tolerated: __, ...item }) => item) };
}

/**
 * Returns a step of a run with its last attempts, by the name of the step or instance. `state` is undefined if the stored
 * workflow is lost.
 */
export function stepViewJson(
  step: StepSummary,
  state: StepState | undefined,
  attempts: (name: string) => readonly AttemptRecord[],
) {
  const { items, ...own } = step;
  return {
    ...own,
    // There can be very many: the only attempt of an instance is in the instance itself.
    ...(items === undefined
      ? {}
      : {
          items: items.map((instance) => ({
            ...instance,
            ...(instance.attempts > 1 ? { history: attempts(instance.name).map(attemptJson) } : {}),
          })),
        }),
    maskedOutputs: state?.masked ?? [],
    kept: state?.restored === true && (state.origin !== undefined || state.status !== 'skipped'),
    history: attempts(step.name).map(attemptJson),
  };
}

function attemptJson({ attempt, scheduledAt, startedAt, readyAt, endedAt, end, next }: AttemptRecord) {
  return {
    attempt,
    status: end?.status ?? null,
    error: end === null || end.message === '' ? null : end.message,
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    scheduledAt: new Date(scheduledAt).toISOString(),
    startedAt: isoTime(startedAt),
    ...(readyAt === undefined ? {} : { readyAt: new Date(readyAt).toISOString() }),
    finishedAt: isoTime(endedAt),
    next: next === null ? null : { why: next.why, until: new Date(next.until).toISOString() },
  };
}

/** Returns the nodes, handlers included, with their positions; `to` depends on `from`. */
function graphJson(graph: Graph, { places, sources }: Pick<DrawnRun, 'places' | 'sources'>) {
  const indexes = new Map(sources.map(({ path }, index) => [path, index]));
  // Instances of a fan-out are in its step.
  const own = graph.nodes.filter(({ instanceOf }) => instanceOf === undefined);
  const nodes = own.map((step, number) => {
    const { name } = step;
    const place = places.get(name);
    return {
      name,
      handler: number < graph.stepCount ? null : handlerKind(name),
      executor: step.executor.type,
      description: step.description,
      command: stepTitle(step),
      isFanOut: step.fanOut !== undefined,
      place:
        place === undefined
          ? null
          : {
              source: indexes.get(place.file) ?? 0,
              line: place.start.line,
              column: place.start.column,
              endLine: place.end.line,
              endColumn: place.end.column,
            },
    };
  });
  const edges = graph.dependencies.flatMap((numbers, to) => {
    const { name, instanceOf } = nodeAt(graph, to);
    return instanceOf === undefined ? numbers.map((from) => ({ from: nodeAt(graph, from).name, to: name })) : [];
  });
  return { nodes, edges };
}

function isoTime(at: number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
