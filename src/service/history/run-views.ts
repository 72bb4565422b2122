import { given } from '#core/data/collections.ts';
import { type Graph, nodeAt } from '#core/graph.ts';
import type { StepState } from '#core/run/run-state.ts';
import { type AttemptRecord, attemptHistory } from '#core/summary/attempt-history.ts';
import { headOf, isoTimeOrNull } from '#core/summary/summarize.ts';
import type { RunSummary, StepSummary } from '#core/summary/summary.ts';
import { handlerKind } from '#core/workflow.ts';
import type { Position, Source } from '#language/diagnostic.ts';
import { locateSteps } from '#language/locate.ts';
import { stepTitle } from '#render/text.ts';
import type { StoredRun } from '#store/store.ts';
import { tryOr } from '#system/errors.ts';
import { readRegular } from '#system/files.ts';
import { nextTurn } from '#system/turns.ts';
import type { History } from './history.ts';
import type { PastRun } from './past-run.ts';
import { summarizeWithFailures } from './run-failures.ts';

type DrawnRun = {
  readonly run: PastRun;
  readonly summary: RunSummary;
  readonly attempts: ReadonlyMap<string, readonly AttemptRecord[]>;
  readonly positions: ReadonlyMap<string, Position>;
  /** As stored: secrets in the text of the file are masked. */
  readonly sources: readonly Source[];
  /** The sub-workflow runs that are in the history, by step. */
  readonly children: ReadonlyMap<string, RunSummary>;
  readonly fileStatus: FileStatus;
};

/** How the present files of a workflow compare with those of the run; null: they cannot be compared. */
type FileStatus = 'same' | 'changed' | 'gone' | null;

const RUNS_PER_TURN = 20;

/** Reads the data that a report or the page draws of a run. */
export async function drawRun(run: PastRun, history: Pick<History, 'read' | 'summarize'>): Promise<DrawnRun> {
  const { stored } = run;
  const summary = await summarizeWithFailures(run, history);
  const sources = stored?.sources ?? [];
  return {
    run,
    summary,
    attempts: attemptHistory(stored?.events ?? []),
    positions: stored === null ? new Map() : positionsOf(stored, run.state.graph),
    sources,
    children: await childrenOf(summary, history),
    fileStatus: stored === null ? null : fileStatus(stored),
  };
}

/** Reading a large file takes long, and a run that is read again has the same sources. */
const located = new WeakMap<
  readonly Source[],
  { readonly count: number; readonly positions: ReadonlyMap<string, Position> }
>();

/** The positions of the steps; instances of fan-outs may have been added since the last call. */
function positionsOf({ sources }: StoredRun, { index }: Graph): ReadonlyMap<string, Position> {
  const known = located.get(sources);
  if (known?.count === index.size) return known.positions;
  const positions = locateSteps(sources, [...index.keys()]);
  located.set(sources, { count: index.size, positions });
  return positions;
}

/** Reads the child runs of steps, without those that were removed from the history. */
async function childrenOf(
  { steps, handlers }: RunSummary,
  history: Pick<History, 'read' | 'summarize'>,
): Promise<ReadonlyMap<string, RunSummary>> {
  const children = new Map<string, RunSummary>();
  for (const { name, child } of [...steps, ...handlers]) {
    if (child === undefined) continue;
    if (children.size % RUNS_PER_TURN === RUNS_PER_TURN - 1) await nextTurn();
    const run = await history.read(child);
    if (run !== null) children.set(name, history.summarize(run));
  }
  return children;
}

/** Compares the files with the stored texts. Null if secrets are masked in these. */
function fileStatus({ sources, masked }: StoredRun): FileStatus {
  const files = sources.filter(({ path }) => path !== '-');
  if (masked || files.length === 0 || files.length < sources.length) return null;
  const texts = files.map(({ path }) => tryOr(null, () => readRegular(path).toString()));
  if (texts[0] === null) return 'gone';
  return texts.every((text, index) => text === files[index]?.text) ? 'same' : 'changed';
}

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
    run: headOf(summary),
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    warnings: summary.warnings,
    failures: summary.failures ?? [],
    moreFailures: summary.moreFailures ?? 0,
    steps: summary.steps.map(view),
    handlers: summary.handlers.map(view),
    graph: run.stored === null ? null : graphJson(run.state.graph, drawn),
    sources: sources.map(({ path, text }) => ({ path, text })),
    subRuns: Array.from(children, ([step, child]) => ({ step, run: headOf(child) })),
    fileStatus,
    masked: run.stored?.masked === true,
  };
}

/** Returns a step without what tolerated its failures if these fail the run, which is strict. */
export function counting(step: StepSummary, isStrict = false): StepSummary {
  if (!isStrict) return step;
  const { tolerated: _, items, ...own } = step;
  return items === undefined ? own : { ...own, items: items.map(({ tolerated: __, ...item }) => item) };
}

/** Returns a step with its last attempts, by name; `state` is undefined if the stored workflow is lost. */
export function stepViewJson(
  step: StepSummary,
  state: StepState | undefined,
  attempts: (name: string) => readonly AttemptRecord[],
) {
  const { items, ...own } = step;
  return {
    ...own,
    // There can be very many: the only attempt of an instance is in the instance itself.
    ...(items && {
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

function attemptJson({ attempt, scheduledAt, startedAt, readyAt, endedAt, worker, end, next }: AttemptRecord) {
  return {
    attempt,
    status: end?.status ?? null,
    error: end === null || end.message === '' ? null : end.message,
    exitCode: end?.exitCode ?? null,
    signal: end?.signal ?? null,
    scheduledAt: new Date(scheduledAt).toISOString(),
    startedAt: isoTimeOrNull(startedAt),
    ...given({ readyAt: isoTimeOrNull(readyAt ?? null), worker }),
    finishedAt: isoTimeOrNull(endedAt),
    next: next === null ? null : { why: next.why, until: new Date(next.until).toISOString() },
  };
}

/** Returns the nodes, handlers included, with their positions; `to` depends on `from`. */
function graphJson(graph: Graph, { positions, sources }: Pick<DrawnRun, 'positions' | 'sources'>) {
  const indexes = new Map(sources.map(({ path }, index) => [path, index]));
  const placeOf = ({ file, start, end }: Position) => ({
    source: indexes.get(file) ?? 0,
    line: start.line,
    column: start.column,
    endLine: end.line,
    endColumn: end.column,
  });
  // Instances of a fan-out are in its step.
  const own = graph.nodes.filter(({ instanceOf }) => instanceOf === undefined);
  const nodes = own.map((step, number) => {
    const { name } = step;
    const position = positions.get(name);
    return {
      name,
      handler: number < graph.stepCount ? null : handlerKind(name),
      executor: step.executor.type,
      description: step.description,
      command: stepTitle(step),
      isFanOut: step.fanOut !== undefined,
      place: position === undefined ? null : placeOf(position),
    };
  });
  const edges = graph.dependencies.flatMap((numbers, to) => {
    const { name, instanceOf } = nodeAt(graph, to);
    return instanceOf === undefined ? numbers.map((from) => ({ from: nodeAt(graph, from).name, to: name })) : [];
  });
  return { nodes, edges };
}
