import { given } from '#core/data/collections.ts';
import { beforeItems, fanOutOf } from '#core/fan-out/instances.ts';
import { itemParams, itemVariables } from '#core/fan-out/items.ts';
import type { AttemptFacts, EarlierSuccess, Item, KeptFile, Outcome, RunInput } from '#core/run/run.ts';
import {
  heldSteps,
  instancesOf,
  type RunState,
  type StepState,
  stepNode,
  stepState,
  steps,
} from '#core/run/run-state.ts';
import { verdict } from '#core/run/verdict.ts';
import { type ResultLogs, resultNames, stepResult } from '#core/words/step-results.ts';
import { allSteps, handlerKind, type PlacedFiles, type Step, type Workflow } from '#core/workflow.ts';

/** An attempt to make, as data: it may be made by another process than the one that decided on it. */
export type StepTask = {
  /** A fan-out without its items is the step that reads them. */
  readonly step: Step;
  /** The number of the attempt, from 1. */
  readonly number: number;
  /** The state of the step as the attempt was scheduled: its policies depend on its own attempts only. */
  readonly state: StepState;
  /** Variables of this attempt: of an instance of a fan-out, and of the handler `wait`. */
  readonly variables: Readonly<Record<string, string>>;
  /** Variables for this attempt and all that follow: the end of the run, for handlers. */
  readonly runVariables: Readonly<Record<string, string>>;
  /** The results of other steps that its texts use, as JSON, by the names that these use. */
  readonly results: Readonly<Record<string, string>>;
  /** What `placed` of the step means now; absent without it. */
  readonly placed?: readonly PlacedDirectory[];
  /** The default parameters of a sub-workflow, in command line syntax: the item of an instance; null: there are none. */
  readonly itemParams: string | null;
  /** The most bytes of an output; absent: the default. */
  readonly maxOutputBytes?: number;
};

/** A rule of `placed`, and the directory of the files that its step has kept; null: that keeps none. */
export type PlacedDirectory = PlacedFiles & { readonly directory: string | null };

/**
 * The result of an attempt: its outcome, and the facts for the step's policies; for a fan-out its items, if they could
 * be read.
 */
export type AttemptReport = {
  readonly outcome: Outcome;
  readonly facts: AttemptFacts;
  readonly items?: readonly Item[];
  /** For a fan-out, if a variable gave it. */
  readonly maxConcurrent?: number;
  /** The artifacts of the attempt; absent if its step keeps none. */
  readonly kept?: readonly KeptFile[];
  /** The step is up to date: no attempt was made. */
  readonly upToDate?: EarlierSuccess;
};

/** The outcome of an attempt that was asked to end before it started. */
export const notStarted: Outcome = {
  status: 'canceled',
  message: 'stopped before it started',
  exitCode: null,
  signal: null,
};

/** The input that reports the end of an attempt. */
export function attemptEnd(
  { outcome, facts, items, maxConcurrent, kept, upToDate }: AttemptReport,
  own: { readonly at: number; readonly step: string; readonly attempt: number },
): RunInput {
  if (items === undefined) return { type: 'attempt-ended', ...own, outcome, facts, ...given({ kept, upToDate }) };
  return { type: 'items-read', ...own, items, ...(maxConcurrent === undefined ? {} : { maxConcurrent }) };
}

/** The task of an attempt that has been scheduled. */
export function stepTask(run: RunState, name: string, number: number, results: StepResults): StepTask {
  const step = stepNode(run, name);
  const state = stepState(run, name);
  const kind = handlerKind(name);
  const { maxOutputBytes } = run.policies;
  return {
    step: step.fanOut === undefined ? step : beforeItems(step),
    number,
    state,
    variables:
      kind === 'wait'
        ? {
            WF_WAITING_STEPS: heldSteps(run)
              .map((held) => held.name)
              .join(','),
          }
        : variablesOfItem(run, state),
    runVariables: kind === null || kind === 'init' || kind === 'wait' ? {} : handlerVariables(run),
    results: results.usedBy(run, step),
    ...results.placedBy(run, step),
    itemParams: paramsOfItem(run, step, state),
    ...(maxOutputBytes === undefined ? {} : { maxOutputBytes }),
  };
}

/** Paths of a run on the machine that decides; those of artifacts are absent if the engine keeps none. */
export type ResultFiles = {
  /** The logs of an attempt. */
  readonly logsOf: (step: string, attempt: number) => ResultLogs;
  /** The directory of the artifacts of a step, or of another run; null if there can be none. */
  readonly artifactsOf?: (of: { readonly step: string } | { readonly runId: string }) => string | null;
};

/** The results of the steps of a run, for texts of later steps. */
export class StepResults {
  readonly #files: ResultFiles;
  /** The steps by the names that texts use for their results. */
  readonly #steps: ReadonlyMap<string, Step>;
  /** Whether any text uses a result. */
  readonly #areUsed: boolean;

  constructor(workflow: Workflow, files: ResultFiles) {
    this.#files = files;
    this.#steps = new Map(allSteps(workflow).flatMap((step) => resultNames(step).map((name) => [name, step] as const)));
    this.#areUsed = this.#namesIn(workflow).length > 0;
  }

  /** The result of a step as JSON; undefined until it is settled. */
  of(run: RunState, name: string): string | undefined {
    const step = this.#steps.get(name);
    if (step === undefined) return undefined;
    const state = stepState(run, step.name);
    const own = () =>
      state.attempt === 0 ? { stdout: null, stderr: null } : this.#files.logsOf(step.name, state.attempt);
    return stepResult(step, state, state.earlier ?? own(), this.#artifactsOf(step, state));
  }

  /** The directory of the files that a step keeps, or that the run of its sub-workflow keeps; null: none. */
  #artifactsOf({ name, artifacts, executor }: Step, state: StepState): string | null {
    const { artifactsOf } = this.#files;
    const child = state.child ?? state.earlier?.child;
    if (artifacts !== undefined) return artifactsOf?.({ step: name }) ?? null;
    return executor.type === 'workflow' && child !== undefined ? (artifactsOf?.({ runId: child }) ?? null) : null;
  }

  /** The results that texts of a step use, by their names. */
  usedBy(run: RunState, step: Step): Readonly<Record<string, string>> {
    if (!this.#areUsed) return {};
    const results: Record<string, string> = {};
    for (const name of this.#namesIn(step)) {
      const result = this.of(run, name);
      if (result !== undefined) results[name] = result;
    }
    return results;
  }

  /** Where the files are that a step finds; empty for most. */
  placedBy(run: RunState, { placed }: Step): Pick<StepTask, 'placed'> {
    if (placed === undefined) return {};
    const directoryOf = (from: string) => this.#artifactsOf(stepNode(run, from), stepState(run, from));
    return { placed: placed.map((rule) => ({ ...rule, directory: directoryOf(rule.from) })) };
  }

  #namesIn(value: Step | Workflow): readonly string[] {
    const names = JSON.stringify(value).matchAll(/\$\{([A-Za-z_]\w*)[.[]/g);
    return Array.from(names, ([, name = '']) => name).filter((name) => this.#steps.has(name));
  }
}

/**
 * Variables for handlers: the status of the run, the first failed step or instance, and the reason of the failure; empty
 * where not applicable.
 */
function handlerVariables(run: RunState): Readonly<Record<string, string>> {
  const { status, message } = verdict(run);
  const [failed] = [...steps(run)]
    .flatMap((step) => {
      const instances = instancesOf(run, step).filter(({ status }) => status === 'failed');
      return step.status === 'failed' && instances.length > 0 ? instances : [step];
    })
    .filter((step) => step.status === 'failed')
    .sort((a, b) => rank(a, run) - rank(b, run) || (a.finishedAt ?? 0) - (b.finishedAt ?? 0));
  return {
    WF_STATUS: status,
    DAG_RUN_STATUS: status,
    WF_FAILED_STEP: failed?.name ?? '',
    WF_ERROR: failed?.message ?? message,
  };
}

/** Failures that count come first, and those of this run before those of an earlier one. */
function rank({ tolerated, restored }: StepState, { strict }: RunState): number {
  return 2 * Number(tolerated !== null && !strict) + Number(restored);
}

function variablesOfItem(run: RunState, state: StepState): Readonly<Record<string, string>> {
  if (state.item === undefined) return {};
  const count = fanOutOf(run, state)?.instances?.count ?? 0;
  return itemVariables(state.item.value, state.item.index, count);
}

/** Only a matrix, whose axes the file names, gives names. */
function paramsOfItem(run: RunState, { instanceOf }: Step, { item }: StepState): string | null {
  if (item === undefined) return null;
  const isMatrix = instanceOf !== undefined && stepNode(run, instanceOf).fanOut?.isMatrix === true;
  return itemParams(item.value, isMatrix);
}
