import { itemVariables } from '#core/fan-out/items.ts';
import { expandText, lookupIn, namesIn, references, splitBackticks } from '#core/words/interpolate.ts';
import { allSteps, type Step, type Template, type Workflow } from '#core/workflow.ts';
import { mergeParams } from '#environment/environment.ts';
import { WfError } from '#system/errors.ts';
import { fileOf } from '../../driver/child-run.ts';
import type { ChildRetries, ChildWorkflow, KnownWorkflows, RunRequest } from '../../engine.ts';
import type { LoadSubworkflow } from '../../local/engine-options.ts';
import { refuseUnsupported, type Support } from './unsupported.ts';

/** How the files of workflows and earlier runs are read. */
export type KnownWorkflowTools = Pick<Support, 'keepsFiles'> & {
  readonly load: LoadSubworkflow;
  /** Plans the retries of the child runs of a run, whose workflows are found by their files. */
  readonly retriesOf: (
    retryOf: string,
    workflowOf: (file: string | null) => Workflow | undefined,
  ) => Promise<ChildRetries>;
  /** Whether the run of a workflow before a run failed. */
  readonly failedBefore: (runId: string, workflow: Workflow) => Promise<boolean>;
};

/**
 * Adds the workflows that the steps of a run can run, and those that these run, since workers do not have their files. One
 * that cannot be read fails its step, as in a run without an engine. Throws a `WfError` `usage` for keys that the engine does
 * not support, and for a name that is not known before the run starts.
 */
export async function withKnownWorkflows(request: RunRequest, tools: KnownWorkflowTools): Promise<RunRequest> {
  const { runId, workflow } = request;
  refuseUnsupported(workflow, tools);
  const failedBefore = async (one: Workflow) =>
    one.notify?.some(({ on }) => on.includes('recovery')) === true && (await tools.failedBefore(runId, one))
      ? ({ failedBefore: true } as const)
      : {};
  if (!runsOthers(workflow)) return { ...request, ...(await failedBefore(workflow)) };
  const reading = new Reading(tools, failedBefore);
  await reading.read(request, request.params);
  const { retryOf } = request;
  const workflowOf = (file: string | null) => reading.workflowOf(file);
  const retries = retryOf === null ? {} : await tools.retriesOf(retryOf, workflowOf);
  const known = { ...reading.known, ...(Object.keys(retries).length === 0 ? {} : { retries }) };
  return { ...request, known, ...(await failedBefore(workflow)) };
}

/**
 * The workflows that a run can execute, the one that was asked for first, each with the variables that nothing has to be
 * evaluated for. Throws as `withKnownWorkflows`.
 */
export async function reachableWorkflows(
  asked: ChildWorkflow & Pick<RunRequest, 'params'>,
  tools: Pick<KnownWorkflowTools, 'load' | 'keepsFiles'>,
): Promise<readonly { readonly workflow: Workflow; readonly known: Readonly<Record<string, string>> }[]> {
  const reading = new Reading(tools, async () => ({}));
  await reading.read(asked, asked.params);
  return reading.all.map((workflow, index) => ({
    workflow,
    known: knownVariables(workflow, index === 0 ? asked.params : []),
  }));
}

function runsOthers(workflow: Workflow): boolean {
  return allSteps(workflow).some(({ executor }) => executor.type === 'workflow');
}

type FailedBefore = (workflow: Workflow) => Promise<Pick<ChildWorkflow, 'failedBefore'>>;

/** The workflows that were read, each once. */
class Reading {
  readonly #tools: Pick<KnownWorkflowTools, 'load' | 'keepsFiles'>;
  readonly #failedBefore: FailedBefore;
  readonly #names: Record<string, Record<string, string | { readonly problem: string }>> = {};
  readonly #files: Record<string, ChildWorkflow> = {};
  readonly #all = new Map<string, Workflow>();

  constructor(tools: Pick<KnownWorkflowTools, 'load' | 'keepsFiles'>, failedBefore: FailedBefore) {
    this.#tools = tools;
    this.#failedBefore = failedBefore;
  }

  get known(): KnownWorkflows {
    return { names: this.#names, workflows: this.#files };
  }

  get all(): readonly Workflow[] {
    return [...this.#all.values()];
  }

  workflowOf(file: string | null): Workflow | undefined {
    return this.#all.get(fileOf({ file }));
  }

  /** Reads what a workflow runs. `params`: those that it certainly gets. */
  async read({ workflow, sources }: ChildWorkflow, params: RunRequest['params'] = []): Promise<void> {
    const file = fileOf(workflow);
    if (this.#all.has(file)) return;
    this.#all.set(file, workflow);
    const known = knownVariables(workflow, params);
    const names = allSteps(workflow).flatMap((step) => namesOfRuns(step, known));
    for (const run of new Set(names)) await this.#child(run, { workflow, sources });
  }

  async #child(run: string, parent: ChildWorkflow): Promise<void> {
    const names = this.#names[fileOf(parent.workflow)] ?? {};
    try {
      const loaded = await this.#tools.load({ run, parent: parent.workflow, sources: parent.sources });
      refuseUnsupported(loaded.workflow, { ...this.#tools, isChild: true });
      const child = { ...loaded, ...(await this.#failedBefore(loaded.workflow)) };
      const isDocument = Object.hasOwn(parent.workflow.documents ?? {}, run);
      // The documents of a file travel with its first one.
      if (!isDocument || child.dotenv !== undefined || child.failedBefore) {
        names[run] = fileOf(child.workflow);
        this.#files[fileOf(child.workflow)] = child;
      }
      await this.read(child);
    } catch (error) {
      if (!(error instanceof WfError) || error.code === 'usage') throw error;
      names[run] = { problem: error.message.replaceAll('\n', '; ') };
    }
    if (Object.keys(names).length > 0) this.#names[fileOf(parent.workflow)] = names;
  }
}

/** The names that a step can run: one for each item that the file has. Throws a `WfError` `usage`. */
function namesOfRuns({ name, executor, fanOut }: Step, known: Readonly<Record<string, string>>): readonly string[] {
  if (executor.type !== 'workflow') return [];
  const run = String(executor.config['run']);
  const items = fanOut === undefined || typeof fanOut.items === 'string' ? [] : fanOut.items;
  const scopes = items.map((item, index) => ({ ...known, ...itemVariables(item, index, items.length) }));
  return (scopes.length === 0 ? [known] : scopes).map((variables) => {
    const unknown = [...namesIn(run)].find((variable) => !Object.hasOwn(variables, variable));
    if (unknown === undefined) return expandText(run, lookupIn(variables));
    const message = `step "${name}" runs "${run}", and an engine reads workflows before the run, which sets "$${unknown}"`;
    throw new WfError('usage', message, { help: 'write the name of the workflow, or run the file without --engine' });
  });
}

/** The variables of a workflow that nothing has to be evaluated for. */
function knownVariables(workflow: Workflow, given: RunRequest['params']): Readonly<Record<string, string>> {
  const params = mergeParams(workflow.params, given).filter(({ isTemplate, value }) => !isTemplate || isPlain(value));
  const all = [...workflow.env.filter(({ value }) => isPlain(value)), ...params];
  return Object.fromEntries(all.flatMap(({ name, value }) => (name === null ? [] : [[name, value]])));
}

function isPlain(value: Template): boolean {
  return references(value).length === 0 && splitBackticks(value).every((part) => 'text' in part);
}
