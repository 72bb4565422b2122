import { posix } from 'node:path';
import { plainStep, plainWorkflow } from '#core/plain-workflow.ts';
import type { RunSummary } from '#core/summary/summary.ts';
import { type HandlerKind, handlerKinds, handlerName, type Step, type Workflow } from '#core/workflow.ts';
import type { Source } from '#language/diagnostic.ts';
import { ifFound, WfError } from '#system/errors.ts';
import { type DaemonClient, segment } from './daemon-client.ts';
import { type JsonMap, numberIn, objectIn, objectsIn, textIn, textsIn } from './json-fields.ts';
import { sourceIn } from './problem-error.ts';

/** The parts of a run's workflow that the daemon sends: enough to show the run, not to run it. */
export type RemoteWorkflow = {
  readonly workflow: Workflow;
  /** The present file if it still has the steps of the run; else empty. */
  readonly sources: readonly Source[];
};

/** Returns the workflow of a run, with what only its file has if that still has the same steps. */
export async function workflowOf(client: DaemonClient, summary: RunSummary): Promise<RemoteWorkflow> {
  const { workflow: name, group, file } = summary;
  // Empty if the file was removed, or the run had none.
  const detail = file === null ? {} : await workflowIfThere(client, `${group}/${posix.basename(file)}`);
  const steps = objectsIn(detail, 'steps');
  const isSame =
    steps.length === summary.steps.length && steps.every((step, i) => textIn(step, 'name') === summary.steps[i]?.name);
  const known = isSame ? steps : [];
  return {
    workflow: {
      ...plainWorkflow,
      handlers: handlersBy((name) => ({ ...plainStep, name })),
      name,
      group,
      file,
      dir: file === null ? '/' : posix.dirname(file),
      steps: summary.steps.map((step, i) => readStep(step.name, known[i] ?? {})),
    },
    sources: isSame ? sourceIn(detail, 'definition', 'file') : [],
  };
}

/** Adds what each step and handler runs, in one line, from the files that are stored with the run. */
export async function withTitles(client: DaemonClient, runId: string, remote: RemoteWorkflow): Promise<RemoteWorkflow> {
  const view = await getIfThere(client, `/runs/${segment(runId)}/view`);
  const nodes = objectsIn(objectIn(view, 'graph') ?? {}, 'nodes');
  const titles = new Map(nodes.map((node) => [textIn(node, 'name'), textIn(node, 'command') ?? '']));
  const titled = (step: Step): Step => ({ ...step, ...titleOf(titles.get(step.name) ?? '') });
  const { workflow, sources } = remote;
  const steps = workflow.steps.map(titled);
  return { workflow: { ...workflow, steps, handlers: handlersBy((name) => titled({ ...plainStep, name })) }, sources };
}

/** The name of a sub-workflow stays apart from its parameters, since an event may replace it by what it evaluates to. */
function titleOf(title: string): Pick<Step, 'command' | 'executor'> {
  const [, run = '', params = ''] = /^workflow: (\S+)(.*)/.exec(title) ?? [];
  return run === ''
    ? { command: title, executor: plainStep.executor }
    : { command: null, executor: { type: 'workflow', config: { run, params: params.trim() } } };
}

/** Returns the texts of a daemon's workflow that it sends; empty for an unknown workflow. */
export async function sourcesOfWorkflow(client: DaemonClient, name: string): Promise<readonly Source[]> {
  return sourceIn(await workflowIfThere(client, name), 'definition', 'file');
}

function workflowIfThere(client: DaemonClient, name: string): Promise<JsonMap> {
  return getIfThere(client, `/workflows/${segment(name)}`);
}

async function getIfThere(client: DaemonClient, path: string): Promise<JsonMap> {
  try {
    return await client.get(path);
  } catch (error) {
    if (error instanceof WfError && error.code !== 'unreachable' && error.code !== 'denied') return {};
    throw error;
  }
}

function readStep(name: string, step: JsonMap): Step {
  const retry = objectIn(step, 'retry') ?? {};
  const repeat = objectIn(step, 'repeat');
  return {
    ...plainStep,
    name,
    depends: textsIn(step, 'depends'),
    retry: { limit: numberIn(retry, 'limit') ?? 0, intervalMs: numberIn(retry, 'intervalMs') ?? 0 },
    repeat: repeat === null ? null : { intervalMs: numberIn(repeat, 'intervalMs') ?? 0 },
  };
}

/** Every handler, since a run reports a handler only once it is reached. */
function handlersBy(make: (name: string) => Step): Workflow['handlers'] {
  const handlers = handlerKinds.map((kind) => [kind, make(handlerName(kind))] as const);
  return Object.fromEntries(handlers) as { readonly [kind in HandlerKind]: Step };
}

/** Asks a daemon whether secrets in the stored workflow of a run are masked, so that a retry needs the file. */
export async function maskedOf(
  client: DaemonClient,
  { runId, status }: RunSummary,
): Promise<{ readonly masked?: true }> {
  // A retry is suggested only for these.
  if (status !== 'failed' && status !== 'canceled') return {};
  // A daemon of an earlier version has no such view.
  const view = await ifFound(client.get(`/runs/${segment(runId)}/view`));
  return view?.['masked'] === true ? { masked: true } : {};
}
