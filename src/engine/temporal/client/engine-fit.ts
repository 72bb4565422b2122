import type { EngineFit, EngineRefusal, NeededWorkers } from '#core/plan.ts';
import { joinedLabels, type Labels, labelsText, needsOneWorker, readLabels, selectingSteps } from '#core/selectors.ts';
import { expandText, lookupIn, namesIn } from '#core/words/interpolate.ts';
import type { Workflow } from '#core/workflow.ts';
import { failedAs, tryOr } from '#system/errors.ts';
import type { ChildWorkflow, RunRequest } from '../../engine.ts';
import { type EngineSettings, using } from '../connection.ts';
import { refuseForeign, type ServingWorker, servesLabels, servingWorkers } from '../workers.ts';
import { type KnownWorkflowTools, reachableWorkflows } from './known-workflows.ts';
import { unsupportedIn, unsupportedName } from './unsupported.ts';

/** A workflow to be checked, with the parameters of its run. `variables`: more of its variables that are known. */
type FitRequest = ChildWorkflow & Pick<RunRequest, 'params'> & { readonly variables?: Variables };

type FitTools = Pick<KnownWorkflowTools, 'load' | 'keepsFiles'>;

type Variables = Readonly<Record<string, string>>;

/** Compares a workflow with an engine. */
export type FitCheck = (request: FitRequest) => Promise<EngineFit>;

/** What the engine tells of its workers. `problem`: why it does not tell, or why they cannot execute runs of this program. */
type Connected = { readonly workers: readonly ServingWorker[] | null; readonly problem: string | null };

/**
 * Returns what checks workflows against an engine, which is asked for its workers once. An engine that cannot be reached is a
 * `problem` of the result. Rejects with a `WfError` `usage` for settings that cannot be used.
 */
export function createFitCheck(settings: EngineSettings, tools: FitTools): FitCheck {
  let connected: Promise<Connected> | null = null;
  return async (request) => {
    connected ??= askWorkers(settings);
    const { workers, problem } = await connected;
    const { reached, refusals } = await reach(request, tools);
    const known = request.variables ?? {};
    return {
      url: settings.url,
      refusals: [...refusals, ...contradictions(reached, known)],
      workers: neededWorkers(reached, known).map((needed) => ({
        ...needed,
        connected: connectedTo(needed, workers),
      })),
      queues: queuesOf(request.workflow),
      problem,
    };
  };
}

async function askWorkers(settings: EngineSettings): Promise<Connected> {
  try {
    return await using(settings, async (access) => {
      const workers = await servingWorkers(access);
      try {
        refuseForeign(workers, access.keyId);
        return { workers, problem: null };
      } catch (error) {
        if (!failedAs(error, 'conflict')) throw error;
        return { workers, problem: error.message };
      }
    });
  } catch (error) {
    if (!failedAs(error, 'unreachable')) throw error;
    return { workers: null, problem: error.message };
  }
}

type Reached = Awaited<ReturnType<typeof reachableWorkflows>>;

/** The workflows that the run executes, and why the engine refuses it. */
async function reach(
  request: FitRequest,
  tools: FitTools,
): Promise<{ readonly reached: Reached; readonly refusals: readonly EngineRefusal[] }> {
  const refusals = unsupportedIn(request.workflow, tools).map(
    ({ help, ...found }): EngineRefusal => ({
      step: found.step,
      message: `the engine does not support ${unsupportedName(found)}`,
      help,
    }),
  );
  try {
    return { reached: await reachableWorkflows(request, tools), refusals };
  } catch (error) {
    if (!failedAs(error, 'usage')) throw error;
    const { message, help } = error;
    return {
      reached: [{ workflow: request.workflow, known: {} }],
      refusals: [...refusals, { step: null, message, help }],
    };
  }
}

/** The labels that the steps of the workflows need, as far as they are known. */
function shownSelectors(reached: Reached, variables: Variables) {
  return reached.map(({ workflow, known }, index) => ({
    workflow,
    selectors: selectingSteps(workflow).map(({ name, workerSelector }) => ({
      step: index === 0 ? name : `${workflow.name}: ${name}`,
      labels: shownLabels(workflow, workerSelector, index === 0 ? { ...known, ...variables } : known),
    })),
  }));
}

/** The combinations of labels that a run needs, each with its steps; if one worker executes them, it needs all of theirs. */
function neededWorkers(reached: Reached, variables: Variables): readonly Omit<NeededWorkers, 'connected'>[] {
  const steps = new Map<string, string[]>([['', []]]);
  for (const { workflow, selectors } of shownSelectors(reached, variables)) {
    const all = needsOneWorker(workflow) ? Object.assign({}, ...selectors.map(({ labels }) => labels)) : null;
    for (const { step, labels } of selectors) {
      const text = labelsText(all ?? labels);
      const own = steps.get(text) ?? [];
      steps.set(text, own);
      own.push(step);
    }
  }
  return [...steps].map(([labels, own]) => ({ labels, steps: own }));
}

/** Labels that one worker cannot have. */
function contradictions(reached: Reached, variables: Variables): readonly EngineRefusal[] {
  return shownSelectors(reached, variables).flatMap(({ workflow, selectors }) => {
    if (!needsOneWorker(workflow)) return [];
    const known = selectors.map(({ labels }) => labelsText(labels)).filter((text) => 'labels' in readLabels(text));
    const joined = joinedLabels(known);
    if ('labels' in joined) return [];
    const help = 'give these steps the same labels, or a workflow of their own';
    return [{ step: null, message: `workerSelector: ${joined.problem}`, help }];
  });
}

/** The labels with the values that are known before the run; those with others, and secrets, are as in the file. */
function shownLabels({ secrets }: Workflow, selector: Labels, known: Variables): Labels {
  const isKnown = (name: string) => Object.hasOwn(known, name) && secrets.every((secret) => secret.name !== name);
  return Object.fromEntries(
    Object.entries(selector).map(([name, value]) => {
      const isOpen = [...namesIn(value)].some((variable) => !isKnown(variable));
      return [name, isOpen ? value : tryOr(value, () => expandText(value, lookupIn(known)))];
    }),
  );
}

function connectedTo(
  { labels }: Pick<NeededWorkers, 'labels'>,
  workers: readonly ServingWorker[] | null,
): readonly string[] | null {
  // Values that only a run knows are not those of a label.
  if (workers === null || (labels !== '' && 'problem' in readLabels(labels))) return null;
  return workers
    .filter((worker) => servesLabels(worker, labels))
    .map(({ name }) => name)
    .sort();
}

function queuesOf({ name, queue, maxConcurrent }: Workflow): readonly string[] {
  return [...(maxConcurrent === undefined ? [] : [`${name} (maxConcurrent)`]), ...(queue === undefined ? [] : [queue])];
}
