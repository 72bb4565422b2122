import { failed } from '#core/run/outcome.ts';
import { neededFacts } from '#core/run/policies.ts';
import type { Outcome, Outputs } from '#core/run/run.ts';
import { lookupIn } from '#core/words/interpolate.ts';
import { allSteps, type Step } from '#core/workflow.ts';
import type { RunEnvironment } from '#environment/environment.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { RunVariables } from '#environment/variables.ts';
import type { Attempt, ProgramSlot, Scope, Started, SubworkflowRequest } from '#executors/executor.ts';
import type { AttemptSignals, EndSignal } from '#processes/end-signal.ts';
import type { RunFiles } from '#store/store.ts';
import { systemProblem, WfError } from '#system/errors.ts';
import type { PreparedRun } from '../driver/driver.ts';
import type { AttemptReport, StepTask } from '../driver/step-task.ts';
import type { RunRequest } from '../engine.ts';
import { runAttempt } from './attempt.ts';
import {
  type ArtifactTotals,
  type AttemptContext,
  type AttemptHost,
  type BackgroundCalls,
  countArtifacts,
} from './attempt-context.ts';
import { MAX_OUTPUT_BYTES } from './output/attempt-output.ts';
import { MaskedOutputs } from './output/masked-output.ts';
import { type OutputOptions, openOutput } from './output/open-output.ts';
import { prepare, runVariables } from './prepare.ts';
import { RunParts } from './shared-parts.ts';

/** The dependencies of the attempts of one run. */
type StepRunnerParts = {
  readonly files: RunFiles;
  readonly secrets: RunSecrets;
  readonly warn: (step: string, message: string) => void;
};

/** What an attempt needs besides its task, where it is made. */
export type AttemptTools = {
  readonly signals: AttemptSignals;
  readonly started: Started;
  readonly contained: Attempt['contained'];
  /** Called before the attempt begins if its step is not up to date. */
  readonly checked: AttemptContext['checked'];
  readonly service: BackgroundCalls;
  readonly limitTime: (timeoutMs: number) => void;
  readonly flush: Attempt['flush'];
  readonly slot: ProgramSlot | null;
};

/** Makes the attempts of one run, with the variables that its steps share. */
export class StepRunner {
  /** What the attempts share. */
  readonly shared = new RunParts();
  readonly #host: AttemptHost;
  readonly #request: RunRequest;
  readonly #parts: StepRunnerParts;
  readonly #outputs: MaskedOutputs;
  readonly #outputOptions: Omit<OutputOptions, 'maxOutputBytes'>;
  readonly #admitted = new Set<string>();
  readonly #totals: ArtifactTotals = { files: 0, bytes: 0, bySteps: new Map() };
  #variables: RunVariables | null = null;
  #evaluated: RunEnvironment | null = null;

  constructor(host: AttemptHost, request: RunRequest, parts: StepRunnerParts) {
    this.#host = host;
    this.#request = request;
    this.#parts = parts;
    this.#outputs = new MaskedOutputs(parts.secrets.shared);
    this.#outputOptions = { ...parts, openPipe: host.openPipe, outputs: this.#outputs };
    const restored = request.restored.flatMap((one) => ('items' in one ? one.instances : [one]));
    for (const { step, kept = [] } of restored) countArtifacts(this.#totals, step, kept);
  }

  /** Evaluates parameters, environment and the workflow's own preconditions, before the first attempt. */
  async prepare(signal: EndSignal, createdAt: number): Promise<PreparedRun> {
    const prepared = await prepare(this.#host, this.#request, { ...this.#parts, signal, createdAt });
    if ('problem' in prepared) return prepared;
    const { variables, evaluated, ...start } = prepared;
    this.#variables = variables;
    this.#evaluated = evaluated;
    try {
      this.#setRestored();
    } catch (error) {
      if (!(error instanceof WfError)) throw error;
      return { problem: error.message };
    }
    return start;
  }

  /** What `prepare` evaluated; null: nothing. */
  get evaluated(): RunEnvironment | null {
    return this.#evaluated;
  }

  /** Takes what another process evaluated, in place of `prepare`. Throws a `WfError` `storage` as `set` does. */
  resume(evaluated: RunEnvironment): void {
    const { secrets, files } = this.#parts;
    const processEnv = { ...this.#host.processEnv, ...secrets.variables };
    const { variables, env } = runVariables(evaluated, { ...this.#request, files, processEnv });
    this.#variables = variables;
    secrets.learn(env);
    secrets.learnSettings(variables.forStep({}).scope);
    this.#setRestored();
  }

  /** Published outputs belong to the result of their step. */
  #setRestored(): void {
    const publishing = new Set(
      allSteps(this.#request.workflow).flatMap(({ name, published }) => (published ? [name] : [])),
    );
    for (const step of this.#request.restored) {
      if ('outputs' in step && !publishing.has(step.step)) this.set(step.outputs);
    }
  }

  /** Sets variables for everything that starts afterwards. Throws a `WfError` `storage` if the disk refuses a large one. */
  set(outputs: Outputs): void {
    for (const [name, value] of Object.entries(outputs)) this.#variables?.set(name, value);
  }

  /** The scope of a run; the environment of this process if the run was never prepared. */
  scope(resultOf: Scope): Scope {
    return this.#variables?.forStep({}, resultOf).scope ?? lookupIn(this.#host.processEnv);
  }

  /** The variables of an attempt before its own `env`. Throws a `WfError` `storage` as `set` does. */
  scopeOf({ step, number, variables, runVariables, results }: StepTask): Scope {
    this.set(runVariables);
    const own = { ...variables, WF_STEP: step.name, WF_ATTEMPT: String(number) };
    return this.#variables?.forStep(own, lookupIn(results)).scope ?? lookupIn(own);
  }

  /** Never rejects for a failing step or a refusal by the machine: these are outcomes. */
  async attempt(task: StepTask, tools: AttemptTools): Promise<AttemptReport> {
    try {
      return await this.#attempt(task, tools);
    } catch (error) {
      const problem = systemProblem(error);
      if (problem === null) throw error;
      return { outcome: failed(problem.message), facts: {} };
    }
  }

  async #attempt(task: StepTask, tools: AttemptTools): Promise<AttemptReport> {
    const { step, number, state, maxOutputBytes = MAX_OUTPUT_BYTES } = task;
    const { signals, ...calls } = tools;
    const variables = this.#variables;
    if (variables === null) throw new Error(`step "${step.name}" was started before the run`);
    const { workflow, runId, force, assumed, isUncached = false } = this.#request;
    const { files, secrets } = this.#parts;
    this.set(task.runVariables);
    const found = this.#host.executor(step.executor.type);
    const executor = found instanceof Promise ? await found : found;
    const output = await openOutput(step, number, { ...this.#outputOptions, maxOutputBytes });
    if ('problem' in output) return { outcome: failed(output.problem), facts: {} };
    const endWatch = files.logs.watch(output.log, this.#host.clock.now);
    const report = await runAttempt({
      runId,
      workflow,
      step,
      number,
      ownVariables: task.variables,
      resultOf: lookupIn(task.results),
      placed: task.placed,
      admitted: this.#admitted,
      output,
      maxOutputBytes,
      secrets,
      files,
      totals: this.#totals,
      artifactsDir:
        step.artifacts === undefined || step.fanOut !== undefined ? null : (files.artifacts?.stage() ?? null),
      warn: (message) => this.#parts.warn(step.name, message),
      isForced: force === 'all' || isNamed(step, force),
      isAssumed: isNamed(step, assumed),
      isUncached,
      variables,
      executor,
      capture: this.#host.capture,
      ...signals,
      ...calls,
      clock: this.#host.clock,
      parts: this.shared,
      runWorkflow: (request, attempt) => this.#host.runWorkflow(withItem(request, task), attempt),
      neededFacts: (made, outcome) => neededFacts(made, state, outcome),
    }).finally(endWatch);
    this.#warnOfOutput(step, report.outcome);
    return report;
  }

  #warnOfOutput({ name, output }: Step, outcome: Outcome): void {
    const text = output !== null && 'outputs' in outcome ? outcome.outputs[output] : undefined;
    const problem = text === undefined ? null : outputProblem(`$WF_OUTPUT_FILE_${output}`, text);
    if (problem !== null) this.#parts.warn(name, `the output "${output}" contains ${problem}`);
  }

  /** Ends the outputs that leftover processes hold open. */
  close(): void {
    this.#outputs.close();
  }
}

/** Whether a request names a step, or the fan-out of an instance. */
function isNamed({ name, instanceOf }: Step, names: readonly string[] = []): boolean {
  return names.includes(instanceOf ?? name);
}

/** Adds the item of an instance as the default parameters. */
function withItem(request: SubworkflowRequest, { itemParams }: StepTask): SubworkflowRequest {
  if (itemParams === null || request.params !== '' || request.json !== undefined) return request;
  return { ...request, params: itemParams, isDefault: true };
}

/** Programs get an empty variable for an output with a NUL character, which looks like an empty output. */
function outputProblem(file: string, text: string): string | null {
  if (text.includes('\uFFFD'))
    return 'U+FFFD, the replacement for bytes that are not UTF-8: write such data to a file instead';
  if (!text.includes('\0')) return null;
  return `a NUL character and cannot be an environment variable: read it from the file ${file}`;
}
