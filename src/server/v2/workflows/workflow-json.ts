import { buildGraph } from '#core/graph.ts';
import { usualDurationMs } from '#core/summary/summarize.ts';
import { noSchedule, type Step, type Workflow } from '#core/workflow.ts';
import { graphView } from '#render/graph/graph-json.ts';
import { diagnosticJson } from '#render/views/json-views.ts';
import type { ListedWorkflow } from '#service/workflows/listed-workflow.ts';
import { parameterViews } from '../../parameter-views.ts';
import { shownDiagnostics } from '../../reply/shown-diagnostics.ts';
import type { ApiRequest } from '../../route.ts';
import type { V2Parts } from '../v2-parts.ts';

/** The number of next starts in the detail of a workflow. */
const NEXT_STARTS = 3;

/**
 * The data of a workflow from its file alone, kept as long as the catalog keeps the file. The `id` is not among it: it
 * depends on the names of other files.
 */
export function fileJson(
  listed: ListedWorkflow,
  access: ApiRequest['access'],
  parts: Pick<V2Parts, 'workflows'>,
): object {
  const { workflows } = parts;
  const { name, group, file } = listed;
  const workflow = listed.workflow === null ? null : workflows.shown(listed.workflow);
  return {
    name,
    group,
    file,
    description: workflow?.description ?? '',
    tags: workflow?.tags ?? [],
    queue: workflow?.queue === undefined ? null : { name: workflow.queue },
    schedule: workflow?.schedule ?? noSchedule,
    diagnostics: shownDiagnostics(listed, access, workflows).map(diagnosticJson),
  };
}

/** The data of a workflow that changes while its file stays the same. */
export type PresentView = {
  readonly next: Date | null;
  readonly suspended: boolean;
  readonly suspendedUntil: Date | null;
};

export function presentView(listed: ListedWorkflow, { workflows }: Pick<V2Parts, 'workflows'>): PresentView {
  const end = workflows.suspendedUntil(listed.file);
  return {
    next: workflows.nextOf(listed),
    suspended: end !== null,
    suspendedUntil: end !== null && Number.isFinite(end) ? new Date(end) : null,
  };
}

/** The current view and the last runs, as in lists. */
export function presentJson(
  { file }: ListedWorkflow,
  present: PresentView,
  { runIndex }: Pick<V2Parts, 'runIndex'>,
): object {
  const recent = runIndex.recent.of(file);
  return { ...present, lastRun: runIndex.lastRunOf(file), recent, medianMs: usualDurationMs(recent ?? []) };
}

/** A workflow with the whole content of its file, as written: nothing is evaluated. */
export function detailView(listed: ListedWorkflow, access: ApiRequest['access'], parts: V2Parts): object {
  const workflow = listed.workflow === null ? null : parts.workflows.shown(listed.workflow);
  return {
    id: parts.workflows.nameOf(listed),
    ...fileJson(listed, access, parts),
    ...presentJson(listed, presentView(listed, parts), parts),
    nextStarts: parts.workflows.startsOf(listed, NEXT_STARTS),
    scheduleWords: parts.workflows.scheduleWordsOf(listed),
    definition: definition(listed, access, parts),
    params: workflow?.params.map(({ name, value, open }) => ({ name, value, open: open === true })) ?? [],
    parameters: workflow === null ? [] : parameterViews(workflow),
    env: workflow?.env ?? [],
    dotenv: workflow?.dotenv ?? [],
    steps: workflow?.steps.map(stepView) ?? [],
    handlers: Object.values(workflow?.handlers ?? {}).flatMap((handler) => (handler === null ? [] : stepView(handler))),
    graph: workflow === null ? null : graphView(buildGraph(workflow)),
    queue: workflow?.queue === undefined ? null : { name: workflow.queue, ...parts.queueNamed(workflow.queue) },
    ...(workflow?.runConfig === undefined ? {} : { runConfig: workflow.runConfig }),
    active: parts.runIndex.activeOf(listed.file).map(({ runId }) => runId),
  };
}

/** A read-only login gets no secrets, and nothing of an invalid file, whose secrets cannot be identified. */
function definition(
  { sources, workflow }: ListedWorkflow,
  access: ApiRequest['access'],
  { workflows }: Pick<V2Parts, 'workflows'>,
): string | null {
  const text = sources[0]?.text ?? null;
  if (access === 'write' || text === null) return text;
  return workflow === null ? null : workflows.shownText(text, workflow);
}

function stepView(step: Step): Pick<Workflow['steps'][number], StepKey> {
  return Object.fromEntries(stepKeys.map((key) => [key, step[key]])) as Pick<Step, StepKey>;
}

const stepKeys = [
  'name',
  'description',
  'executor',
  'command',
  'args',
  'script',
  'dir',
  'depends',
  'preconditions',
  'continueOn',
  'retry',
  'repeat',
  'output',
  'stdout',
  'stderr',
  'env',
  'signalOnStop',
  'timeoutMs',
] as const satisfies readonly (keyof Step)[];
type StepKey = (typeof stepKeys)[number];
