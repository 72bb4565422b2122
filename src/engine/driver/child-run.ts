import { given } from '#core/data/collections.ts';
import type { Outputs, Param } from '#core/run/run.ts';
import { type RunState, stepState } from '#core/run/run-state.ts';
import type { Workflow } from '#core/workflow.ts';
import type { SubworkflowResult } from '#executors/executor.ts';
import { WfError } from '#system/errors.ts';
import type { ChildRetries, ChildWorkflow, KnownRetry, KnownWorkflows, RunRequest } from '../engine.ts';

/** What a child run has of its own. `params`: without variables; `earlier`: the child run that it retries, if any. */
type OwnPart = {
  readonly runId: string;
  readonly params: readonly Param[];
  readonly earlier: (Pick<KnownRetry, 'retryOf' | 'restored'> & Partial<Pick<KnownRetry, 'retries'>>) | null;
};

/** The request for the child run of a step. */
export function childRequest(
  parent: RunRequest,
  { workflow, sources, dotenv, failedBefore }: ChildWorkflow,
  { runId, params, earlier }: OwnPart,
): RunRequest {
  return {
    runId,
    workflow,
    sources,
    params,
    ...given({
      dotenv,
      failedBefore,
      onApproval: parent.onApproval,
      moment: parent.moment,
      known: parent.known && knownBy(parent.known, workflow, earlier?.retries),
    }),
    trigger: 'workflow',
    retryOf: earlier?.retryOf ?? null,
    restored: earlier?.restored ?? [],
    ancestors: ancestorsOf(parent),
    queues: queuesOf(parent),
    strict: parent.strict === true,
    ...(parent.force === 'all' ? { force: parent.force } : {}),
    ...given({ isUncached: parent.isUncached }),
    parentGraceMs: graceOf(parent),
  };
}

function ancestorsOf({ ancestors, workflow }: RunRequest): readonly string[] {
  return [...ancestors, fileOf(workflow)];
}

/** Throws a `WfError` `invalid-workflow` for a workflow that is one of those that run it. */
export function refuseCircle(parent: RunRequest, { file, name }: Workflow): void {
  const ancestors = ancestorsOf(parent);
  if (file === null || !ancestors.includes(file)) return;
  const path = [...ancestors.slice(ancestors.indexOf(file)), file].join(' -> ');
  throw new WfError('invalid-workflow', `workflow "${name}" runs itself: ${path}`);
}

/** The queues of a run and of those that run it. */
export function queuesOf({ queues = [], workflow }: RunRequest): readonly string[] {
  return workflow.queue === undefined || queues.includes(workflow.queue) ? queues : [...queues, workflow.queue];
}

/** The time between the stop of a run and the kill of its steps: at most that of the run that runs it. */
export function graceOf({ workflow, parentGraceMs }: Pick<RunRequest, 'workflow' | 'parentGraceMs'>): number {
  return Math.min(workflow.graceMs, parentGraceMs ?? Number.POSITIVE_INFINITY);
}

/** The first line in the log of a step that runs a workflow. */
export function childLine(runId: string, { name }: Pick<Workflow, 'name'>, retryOf: string | null): string {
  return `run ${runId} of workflow "${name}"${retryOf === null ? '' : `, a retry of run ${retryOf}`}\n`;
}

/** The result of a child run that has ended. `state`: unmasked, since the step masks the values in turn. */
export function childResult(runId: string, workflow: Workflow, state: RunState): SubworkflowResult {
  const steps = workflow.steps.map(({ name }) => stepState(state, name));
  const outputs: Outputs = Object.assign({}, ...steps.map((step) => step.outputs));
  const failed = steps.filter((step) => step.status === 'failed');
  const cause = failed.find(({ tolerated }) => tolerated === null) ?? failed[0];
  const { status, message } = state;
  const end = `workflow "${workflow.name}" ${status}${message === '' ? '' : `: ${message}`}`;
  const ok = status === 'succeeded' || status === 'partially_succeeded' || status === 'skipped';
  return {
    ok,
    canceled: status === 'canceled',
    json: JSON.stringify({ name: workflow.name, runId, status, params: state.params, outputs }),
    message: ok ? '' : cause === undefined ? end : `step "${cause.name}": ${cause.message}`,
  };
}

/**
 * The workflow that a step names, of those that were read before the run started: a document of the file of its parent, or
 * another file. Throws a `WfError`: why it could not be read, or `usage` if nothing was read by this name.
 */
export function knownWorkflow({ workflow, sources, known }: RunRequest, run: string): ChildWorkflow {
  const names = known?.names[fileOf(workflow)];
  const found = names !== undefined && Object.hasOwn(names, run) ? names[run] : undefined;
  if (typeof found === 'object') throw new WfError('invalid-workflow', found.problem);
  const file = found === undefined ? undefined : known?.workflows[found];
  if (file !== undefined) return file;
  const { documents = {} } = workflow;
  const document = Object.hasOwn(documents, run) ? documents[run] : undefined;
  if (document !== undefined) return { workflow: { ...document, documents }, sources };
  throw new WfError('usage', `the workflow "${run}" was not read before the run started: its name must be known then`);
}

/** What the steps of a workflow, and of those that it runs, may run. */
function knownBy({ names, workflows }: KnownWorkflows, workflow: Workflow, retries?: ChildRetries): KnownWorkflows {
  const found: Record<string, KnownWorkflows['names'][string]> = {};
  const files: Record<string, ChildWorkflow> = {};
  const left = [workflow];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const own = names[fileOf(next)];
    left.push(
      ...Object.values(next.documents ?? {}).filter((document) => names[fileOf(document)] !== found[fileOf(document)]),
    );
    if (own === undefined || found[fileOf(next)] !== undefined) continue;
    found[fileOf(next)] = own;
    for (const file of Object.values(own)) {
      const child = typeof file === 'string' ? workflows[file] : undefined;
      if (typeof file !== 'string' || child === undefined) continue;
      files[file] = child;
      left.push(child.workflow);
    }
  }
  return { names: found, workflows: files, ...given({ retries }) };
}

/** The file of a workflow, by which runs know each other; `-`: it has none. */
export function fileOf({ file }: Pick<Workflow, 'file'>): string {
  return file ?? '-';
}
