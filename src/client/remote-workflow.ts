import { posix } from 'node:path';
import { plainStep, plainWorkflow } from '../core/plain-workflow.ts';
import type { RunSummary } from '../core/run/summary.ts';
import { handlerName, type Step, type Workflow } from '../core/workflow.ts';
import { WfError } from '../errors.ts';
import type { Source } from '../language/diagnostic.ts';
import { type DaemonClient, segment } from './daemon-client.ts';
import { isObject, type JsonMap, listIn, numberIn, objectIn, textIn } from './transport/json-fields.ts';

/** As much of a run's workflow as its daemon tells: enough to show the run, not to run it. */
export type RemoteWorkflow = {
  readonly workflow: Workflow;
  /** The file as it is today, where it still has the steps of the run; else none. */
  readonly sources: readonly Source[];
};

/**
 * The workflow of a run. Its steps are those of the run; what they depend on and how often they are tried is taken from the
 * file as it is today, where that has the same steps.
 */
export async function workflowOf(client: DaemonClient, summary: RunSummary): Promise<RemoteWorkflow> {
  const detail = await detailOf(client, summary);
  const steps = listIn(detail, 'steps').filter(isObject);
  const isSame =
    steps.length === summary.steps.length && steps.every((step, i) => textIn(step, 'name') === summary.steps[i]?.name);
  const { name, group, file } = { name: summary.workflow, group: summary.group, file: summary.file };
  const known = isSame ? steps : [];
  return {
    workflow: {
      ...plainWorkflow,
      handlers: everyHandler,
      name,
      group,
      file,
      dir: file === null ? '/' : posix.dirname(file),
      steps: summary.steps.map((step, i) => readStep(step.name, known[i] ?? {})),
    },
    sources: isSame ? sourcesOf(detail) : [],
  };
}

/** The texts that a workflow of a daemon is made from, as far as it tells them; none where it knows no such workflow. */
export async function sourcesOfWorkflow(client: DaemonClient, name: string): Promise<readonly Source[]> {
  return sourcesOf(await getIfThere(client, name));
}

function sourcesOf(detail: JsonMap): readonly Source[] {
  const path = textIn(detail, 'file');
  const text = textIn(detail, 'definition');
  return path === null || text === null ? [] : [{ path, text }];
}

/** Nothing where the file is gone, or was none. */
function detailOf(client: DaemonClient, { file, group }: RunSummary): Promise<JsonMap> {
  return file === null ? Promise.resolve({}) : getIfThere(client, `${group}/${posix.basename(file)}`);
}

async function getIfThere(client: DaemonClient, name: string): Promise<JsonMap> {
  try {
    return await client.get(`/workflows/${segment(name)}`);
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
    depends: listIn(step, 'depends').filter((other) => typeof other === 'string'),
    retry: { limit: numberIn(retry, 'limit') ?? 0, intervalMs: numberIn(retry, 'intervalMs') ?? 0 },
    repeat: repeat === null ? null : { intervalMs: numberIn(repeat, 'intervalMs') ?? 0 },
  };
}

/** Which a run has is known once it reaches them: one that has no such handler tells nothing of it. */
const everyHandler: Workflow['handlers'] = {
  success: { ...plainStep, name: handlerName('success') },
  failure: { ...plainStep, name: handlerName('failure') },
  cancel: { ...plainStep, name: handlerName('cancel') },
  exit: { ...plainStep, name: handlerName('exit') },
};
