import { join } from 'node:path';
import type { StaleReasons } from '#core/fingerprint.ts';
import type { neededFacts } from '#core/run/policies.ts';
import type { Outcome } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { PublishedOutput, Step, Workflow } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import type { Captured } from '#environment/precondition.ts';
import type { RunSecrets } from '#environment/run-secrets.ts';
import type { RunVariables } from '#environment/variables.ts';
import { evaluateText } from '#environment/variables.ts';
import type {
  Attempt,
  Executor,
  ProgramSlot,
  RunScope,
  Scope,
  Started,
  SubworkflowRequest,
  SubworkflowResult,
} from '#executors/executor.ts';
import type { EndSignal } from '#processes/end-signal.ts';
import type { RunFiles } from '#store/store.ts';
import type { Clock } from '#system/clock.ts';
import { pathFrom } from '#system/files.ts';
import type { StepTask } from '../driver/step-task.ts';
import type { AttemptOutput } from './output/attempt-output.ts';
import type { OpenPipe } from './output/masked-output.ts';
import type { BackgroundAttempt } from './service/serve.ts';
import type { RunParts } from './shared-parts.ts';

/** Runs a shell command and captures its output; for backticks and `condition` commands. */
export type Capture = (
  command: string,
  options: {
    readonly env: Environment;
    readonly cwd: string;
    readonly shell: string;
    /** The command's `$1`, `$2`... */
    readonly params?: readonly string[];
    readonly signal?: AbortSignal;
  },
) => Promise<Captured>;

/** What attempts need of the machine and the process in which they are made. */
export type AttemptHost = {
  readonly clock: Clock;
  /** The base environment of every step. */
  readonly processEnv: Environment;
  /** Returns the executor for a type; a promise only if its module is not loaded yet. */
  readonly executor: (type: string) => Executor | Promise<Executor>;
  readonly capture: Capture;
  readonly openPipe: OpenPipe;
  /** Runs another workflow for a step. */
  readonly runWorkflow: (request: SubworkflowRequest, attempt: Attempt) => Promise<SubworkflowResult>;
};

/** Which facts the policies of a step need. */
export type NeededFacts = ReturnType<typeof neededFacts>;

/** Reports of an attempt at a service. */
export type BackgroundCalls = Pick<BackgroundAttempt, 'ready' | 'giveUp'>;

/** A number of kept files, and their bytes. */
type ArtifactSize = { readonly files: number; readonly bytes: number };

/** What the steps of a run keep at present. Attempts share and change it. */
export type ArtifactTotals = { files: number; bytes: number; readonly bySteps: Map<string, ArtifactSize> };

/** Adds files of a step. */
export function countArtifacts(
  totals: ArtifactTotals,
  step: string,
  added: readonly { readonly bytes: number }[],
): void {
  if (added.length === 0) return;
  const before = totals.bySteps.get(step) ?? { files: 0, bytes: 0 };
  const bytes = added.reduce((sum, file) => sum + file.bytes, 0);
  totals.files += added.length;
  totals.bytes += bytes;
  totals.bySteps.set(step, { files: before.files + added.length, bytes: before.bytes + bytes });
}

/** Context of one attempt, provided by its run. */
export type AttemptContext = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly step: Step;
  readonly number: number;
  /** The variables of an instance of a fan-out, and of the handler `wait`; else empty. */
  readonly ownVariables: Environment;
  /** Looks up the results of other steps as JSON, by names of the steps. */
  readonly resultOf: Scope;
  readonly placed: StepTask['placed'];
  /** Steps whose preconditions were met: retries and repetitions do not check them again. */
  readonly admitted: Set<string>;
  /** Already open; closed by the attempt. */
  readonly output: AttemptOutput;
  /** The most bytes of an output. */
  readonly maxOutputBytes: number;
  readonly secrets: RunSecrets;
  readonly files: RunFiles;
  /** What the steps of the run keep at present. */
  readonly totals: ArtifactTotals;
  /** The directory for the program's own artifacts; null: the step keeps none. */
  readonly artifactsDir: string | null;
  readonly warn: (message: string) => void;
  /** The step runs even if it is up to date. */
  readonly isForced: boolean;
  /** The step has the result of its last success, if there is one. */
  readonly isAssumed: boolean;
  /** The step restores no earlier success, and none is kept. */
  readonly isUncached: boolean;
  /** Called before the attempt begins if its step is not up to date. */
  readonly checked: (reasons: StaleReasons) => void;
  readonly variables: RunVariables;
  readonly executor: Executor;
  readonly capture: Capture;
  readonly signal: EndSignal;
  readonly kill: EndSignal;
  readonly started: Started;
  readonly contained: Attempt['contained'];
  readonly parts: RunParts;
  readonly clock: Clock;
  readonly service: BackgroundCalls;
  readonly runWorkflow: (request: SubworkflowRequest, attempt: Attempt) => Promise<SubworkflowResult>;
  /** Which facts the step's policies need after this outcome. */
  readonly neededFacts: (step: Step, outcome: Outcome) => NeededFacts;
  /** Starts a time limit for the attempt, given by a variable. */
  readonly limitTime: (timeoutMs: number) => void;
  readonly flush: Attempt['flush'];
  /** Of a step that is only a program; null: it need not wait. */
  readonly slot: ProgramSlot | null;
};

/** The variables of a step for its attempt: lookup, environment, working directory. */
export type StepScope = { readonly scope: Scope; readonly env: Environment; readonly cwd: string };

/** Backticks in a step's `env` run in the same directory as those in the workflow's `env`. */
export function captureFor({ workflow, step, signal, capture, variables }: AttemptContext) {
  const shell = step.shell ?? workflow.shell;
  return (command: string, env: Environment) =>
    capture(command, { env, cwd: workflow.dir, shell, params: variables.args, signal: signal.toAbortSignal() });
}

/** Runs a command of a condition in the directory of the step. */
export function captureIn(context: AttemptContext, own: Pick<StepScope, 'env' | 'cwd'>, command: string) {
  const { step, workflow, signal, capture, variables } = context;
  const shell = step.shell ?? workflow.shell;
  return capture(command, { ...own, shell, params: variables.args, signal: signal.toAbortSignal() });
}

/** The variables that `wf` itself gives an attempt, also under the names of Blackdagger and Dagu. */
export function stepEnvironment(context: AttemptContext): Environment {
  const { step, number, ownVariables, output, artifactsDir } = context;
  const { log } = output;
  return {
    ...ownVariables,
    ...outputsFile(context),
    ...(artifactsDir === null ? {} : { WF_ARTIFACTS_DIR: artifactsDir, DAG_RUN_ARTIFACTS_DIR: artifactsDir }),
    WF_STEP: step.name,
    WF_ATTEMPT: String(number),
    WF_LOG_FILE: log.stdoutPath,
    DAG_EXECUTION_LOG_PATH: log.stdoutPath,
    DAG_RUN_STEP_NAME: step.name,
    DAG_RUN_STEP_STDOUT_FILE: log.stdoutPath,
    DAG_RUN_STEP_STDERR_FILE: log.stderrPath,
  };
}

/** Whether the program of a step writes outputs into a file. */
export function hasDeclaredOutputs({ published = [] }: Step): boolean {
  return published.some(isDeclared);
}

/** Whether the program of the step writes the output into its file. */
export function isDeclared({ value }: PublishedOutput): boolean {
  return 'from' in value && value.from === 'outputs';
}

/** The file for the `outputs` of a step. */
function outputsFile({ step, files }: AttemptContext): Environment {
  if (!hasDeclaredOutputs(step)) return {};
  const file = join(files.scratch(), `outputs-${Math.random().toString(36).slice(2, 12)}`);
  return { WF_OUTPUT_FILE: file, DAGU_OUTPUT_FILE: file };
}

/** The absolute working directory of a step. */
export async function stepDirectory(context: AttemptContext, { scope, env }: Omit<StepScope, 'cwd'>): Promise<string> {
  const { workflow, step } = context;
  if (step.dir === null) return workflow.dir;
  const path = await evaluateText('"dir"', step.dir, { scope, env, capture: captureFor(context) });
  return pathFrom(workflow.dir, path, scope('HOME'));
}

/** The attempt as its executor sees it. */
export function makeAttempt(context: AttemptContext, own: StepScope): Attempt {
  const { runId, workflow, step, number, output, secrets, files, variables, flush, slot } = context;
  const { signal, kill, started, contained } = context;
  const attempt: Attempt = {
    runId,
    workflow,
    step,
    number,
    ...own,
    params: variables.args,
    expand: (text) => expandText(text, own.scope),
    holdsSecret: (text) => secrets.shared.mask(text) !== text,
    log: output.log,
    write: output.write,
    started,
    contained,
    shared: context.parts.forAttempt(() => runScope(context)),
    scratch: files.scratch,
    flush,
    slot,
    signal,
    kill,
    runWorkflow: (request) => context.runWorkflow(request, attempt),
  };
  return attempt;
}

function runScope({ variables, resultOf }: AttemptContext): RunScope {
  const { scope, env } = variables.forStep({}, resultOf);
  return { scope, env, expand: (text) => expandText(text, scope) };
}
