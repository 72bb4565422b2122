import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { failed } from '../../core/run/outcome.ts';
import type { AttemptFacts, Item, Outcome } from '../../core/run/run.ts';
import { numberValues, withNumbers } from '../../core/step-numbers.ts';
import { expandText } from '../../core/words/interpolate.ts';
import { PathProblem } from '../../core/words/json-path.ts';
import type { NumberValue, Service, Step, Workflow } from '../../core/workflow.ts';
import type {
  Attempt,
  Executor,
  RunScope,
  Scope,
  Started,
  SubworkflowRequest,
  SubworkflowResult,
} from '../../executors/executor.ts';
import { canceled, type EndSignal, isAskedToEnd } from '../../processes/end-signal.ts';
import type { RunJournal } from '../../store/store.ts';
import type { Clock } from '../clock.ts';
import { attemptFacts, type NeededFacts } from './attempt-facts.ts';
import { type Environment, EvaluationProblem } from './environment/environment.ts';
import { type Captured, firstUnmet } from './environment/precondition.ts';
import { readItems } from './environment/read-items.ts';
import type { RunSecrets } from './environment/run-secrets.ts';
import { addStepEnv } from './environment/step-env.ts';
import type { RunVariables } from './environment/variables.ts';
import { type AttemptOutput, isDeviceFull } from './output/attempt-output.ts';
import { OutputCopy } from './output/output-copy.ts';
import { MAX_OUTPUT_BYTES } from './output/output-text.ts';
import type { publishedOutputs } from './output/published-outputs.ts';
import type { ServiceAttempt } from './service/serve.ts';
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

/** Reports of an attempt at a service. */
export type ServiceCalls = Pick<ServiceAttempt, 'ready' | 'giveUp'>;

/** Context of one attempt, provided by its run. */
type AttemptContext = {
  readonly runId: string;
  readonly workflow: Workflow;
  readonly step: Step;
  readonly number: number;
  /** The variables of an instance of a fan-out; else empty. */
  readonly itemVariables: Environment;
  /** Steps whose preconditions were met: retries and repetitions do not check them again. */
  readonly admitted: Set<string>;
  /** Already open; closed by the attempt. */
  readonly output: AttemptOutput;
  readonly secrets: RunSecrets;
  readonly journal: RunJournal;
  readonly variables: RunVariables;
  readonly executor: Executor;
  readonly capture: Capture;
  readonly signal: EndSignal;
  readonly kill: EndSignal;
  readonly started: Started;
  readonly contained: Attempt['contained'];
  readonly parts: RunParts;
  readonly clock: Clock;
  readonly service: ServiceCalls;
  readonly runWorkflow: (request: SubworkflowRequest, attempt: Attempt) => Promise<SubworkflowResult>;
  /** Which facts the step's policies need after this outcome. */
  readonly neededFacts: (step: Step, outcome: Outcome) => NeededFacts;
  /** Limits the time of the attempt from now on, for a limit that a variable gives. */
  readonly limitTime: (timeoutMs: number) => void;
};

/**
 * The result of an attempt: its outcome, and what the step's policies ask besides; of a fan-out its items, if they could
 * be read.
 */
export type AttemptReport = {
  readonly outcome: Outcome;
  readonly facts: AttemptFacts;
  readonly items?: readonly Item[];
  /** Of a fan-out, if a variable gave it. */
  readonly maxConcurrent?: number;
};

/**
 * Makes one attempt at a step: precondition, variables, directory and output files, executor, `output`. A failing step
 * is an outcome; a rejection is an internal error.
 */
export async function runAttempt(written: AttemptContext): Promise<AttemptReport> {
  const { output, secrets, variables } = written;
  let context = written;
  try {
    const { scope, env } = variables.forStep(stepEnvironment(written));
    if (written.step.env.length > 0) await addStepEnv(written.step.env, { scope, env, capture: captureFor(written) });
    secrets.learnStep(written.step, env, scope);
    const cwd = stepDirectory(written.workflow, written.step, scope);
    const refusal = await checkPreconditions(written, scope, env, cwd);
    if (context.signal.aborted) return reportOf(afterEnd(canceled, context));
    if (refusal !== null) return reportOf(refusal);
    const { step, numbers } = evaluatedNumbers(written, scope);
    context = { ...written, step };
    if (step.fanOut !== undefined) {
      const items = await readItems(step.fanOut, { scope, env, capture: captureFor(context), secrets });
      const limit = numbers === undefined ? {} : { maxConcurrent: step.fanOut.maxConcurrent };
      return { ...reportOf({ status: 'succeeded', exitCode: null, outputs: {} }), items, ...limit };
    }
    const outcome = await withCopies(context, scope, cwd, async () => {
      env['PWD'] = cwd;
      const attempt = makeAttempt(context, { scope, env, cwd });
      const outcome = withCause(await work(context, attempt), output);
      output.settle();
      return afterEnd(outcome, context);
    });
    const report = await withFacts(context, outcome, { scope, env, cwd });
    return numbers === undefined ? report : { ...report, facts: { ...report.facts, numbers } };
  } catch (error) {
    if (!(error instanceof EvaluationProblem || error instanceof PathProblem)) throw error;
    return reportOf(afterEnd(failed(error.message), context));
  } finally {
    output.close();
  }
}

/** The step with the numbers that variables give. Throws an `EvaluationProblem`. */
function evaluatedNumbers(
  { step, limitTime }: AttemptContext,
  scope: Scope,
): { readonly step: Step; readonly numbers?: readonly NumberValue[] } {
  if (step.numbers === undefined) return { step };
  const read = numberValues(step.numbers, scope);
  if ('problem' in read) throw new EvaluationProblem(read.problem);
  const made = withNumbers(step, read.values);
  if (step.numbers.some(({ key }) => key === 'timeoutSec')) limitTime(made.timeoutMs);
  return { step: made, numbers: read.values };
}

/** A step that only asks for an approval has no work; a service is watched while it works. */
async function work(context: AttemptContext, attempt: Attempt): Promise<Outcome> {
  const { step, executor } = context;
  const { command, script, approval, service } = step;
  const run = (made: Attempt) => executor.run(step.executor.config, made);
  const isWork = approval === undefined || command !== null || script !== null || step.executor.type !== 'command';
  if (isWork) return service === undefined ? run(attempt) : runService(service, { context, attempt, run });
  attempt.started(null);
  return { status: 'succeeded', exitCode: null, outputs: {} };
}

async function runService(
  service: Service,
  { context, attempt, run }: { context: AttemptContext } & Pick<ServiceAttempt, 'attempt' | 'run'>,
): Promise<Outcome> {
  const { step, workflow, clock, capture, variables } = context;
  const { serve } = await import('./service/serve.ts');
  const { env, cwd } = attempt;
  const shell = step.shell ?? workflow.shell;
  return serve({
    service,
    attempt,
    run,
    clock,
    isContained: step.executor.type === 'docker',
    capture: (command, signal) => capture(command, { env, cwd, shell, params: variables.args, signal }),
    ...context.service,
  });
}

function reportOf(outcome: Outcome): AttemptReport {
  return { outcome, facts: {} };
}

/** A condition that cannot be evaluated fails the attempt, unless that was asked to end meanwhile. */
async function withFacts(
  context: AttemptContext,
  outcome: Outcome,
  { scope, env, cwd }: { scope: Scope; env: Environment; cwd: string },
): Promise<AttemptReport> {
  const { step, signal, output } = context;
  const needed = context.neededFacts(step, outcome);
  const { stdoutPath, stderrPath } = output.log;
  try {
    const facts = await attemptFacts(step, needed, outcome, {
      scope,
      env,
      capture: (command, own) => captureIn(context, { env: own, cwd }, command),
      logs: [stdoutPath, stderrPath],
    });
    return { outcome, facts };
  } catch (error) {
    if (!(error instanceof EvaluationProblem || error instanceof PathProblem)) throw error;
    return signal.aborted ? reportOf(outcome) : reportOf(failed(error.message));
  }
}

/** Backticks in a step's `env` run in the same directory as those in the workflow's `env`. */
function captureFor({ workflow, step, signal, capture, variables }: AttemptContext) {
  const shell = step.shell ?? workflow.shell;
  return (command: string, env: Environment) =>
    capture(command, { env, cwd: workflow.dir, shell, params: variables.args, signal: signal.toAbortSignal() });
}

function stepEnvironment({ step, number, itemVariables, output: { log } }: AttemptContext): Environment {
  return {
    ...itemVariables,
    WF_STEP: step.name,
    WF_ATTEMPT: String(number),
    WF_LOG_FILE: log.stdoutPath,
    DAG_EXECUTION_LOG_PATH: log.stdoutPath,
  };
}

function stepDirectory(workflow: Workflow, step: Step, scope: Scope): string {
  if (step.dir === null) return workflow.dir;
  const dir = expandText(step.dir, scope);
  const home = scope('HOME');
  if (home !== undefined && (dir === '~' || dir.startsWith('~/'))) return resolve(home, dir.slice(2));
  return resolve(workflow.dir, dir);
}

/** Returns null if the step may proceed. */
async function checkPreconditions(
  context: AttemptContext,
  scope: Scope,
  env: Environment,
  cwd: string,
): Promise<Outcome | null> {
  const { step, admitted } = context;
  if (step.preconditions.length === 0 || admitted.has(step.name)) return null;
  try {
    const unmet = await firstUnmet(step.preconditions, {
      what: 'precondition',
      scope,
      capture: (command, extra) => captureIn(context, { env: { ...env, ...extra }, cwd }, command),
    });
    if (unmet !== null) return { status: 'skipped', message: unmet };
  } catch (error) {
    if (!(error instanceof EvaluationProblem)) throw error;
    return failed(error.message);
  }
  admitted.add(step.name);
  return null;
}

function captureIn(context: AttemptContext, own: { env: Environment; cwd: string }, command: string) {
  const { step, workflow, signal, capture, variables } = context;
  const shell = step.shell ?? workflow.shell;
  return capture(command, { ...own, shell, params: variables.args, signal: signal.toAbortSignal() });
}

function makeAttempt(context: AttemptContext, own: { scope: Scope; env: Environment; cwd: string }): Attempt {
  const { runId, workflow, step, number, output, secrets, journal, variables, signal, kill, started, contained } =
    context;
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
    scratch: journal.scratch,
    signal,
    kill,
    runWorkflow: (request) => context.runWorkflow(request, attempt),
  };
  return attempt;
}

function runScope({ variables }: AttemptContext): RunScope {
  const { scope, env } = variables.forStep({});
  return { scope, env, expand: (text) => expandText(text, scope) };
}

/** Runs the work, copies its output to the files named by `stdout` and `stderr`, then reads `output`. */
async function withCopies(
  context: AttemptContext,
  scope: Scope,
  cwd: string,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const { step, output } = context;
  const hasCopies = step.stdout !== null || step.stderr !== null;
  if (hasCopies && !existsSync(cwd)) return failed(`directory "${cwd}" does not exist`);
  const copies: OutputCopy[] = [];
  const { log } = output;
  let outcome: Outcome;
  try {
    if (step.stdout !== null) copies.push(new OutputCopy(log.stdoutPath, resolve(cwd, expandText(step.stdout, scope))));
    if (step.stderr !== null) copies.push(new OutputCopy(log.stderrPath, resolve(cwd, expandText(step.stderr, scope))));
    outcome = await withOutput(await work(), { context, scope, cwd });
  } catch (error) {
    if (!(error instanceof OutputCopy.Problem || error instanceof PathProblem)) throw error;
    outcome = failed(error.message);
  }
  const ends = await Promise.all(copies.map((copy) => copy.end(context.signal)));
  const problem = ends.find((found) => found !== null) ?? null;
  return problem !== null && outcome.status === 'succeeded' ? afterEnd(failed(problem), context) : outcome;
}

type OutputContext = { readonly context: AttemptContext; readonly scope: Scope; readonly cwd: string };

async function withOutput(outcome: Outcome, own: OutputContext): Promise<Outcome> {
  if (outcome.status !== 'succeeded' && outcome.status !== 'failed') return outcome;
  const read = await readOutputs(own);
  if ('outputs' in read) return { ...outcome, outputs: { ...outcome.outputs, ...read.outputs } };
  return outcome.status === 'succeeded' ? failed(read.problem) : outcome;
}

async function readOutputs({ context, scope, cwd }: OutputContext): ReturnType<typeof publishedOutputs> {
  const { step, output, workflow } = context;
  if (step.published !== undefined) {
    const { publishedOutputs } = await import('./output/published-outputs.ts');
    const maxBytes = workflow.maxOutputBytes ?? MAX_OUTPUT_BYTES;
    return publishedOutputs(step.published, { output, scope, cwd, maxBytes });
  }
  if (step.output === null) return { outputs: {} };
  const read = output.text(step.output, 'stdout');
  return 'text' in read ? { outputs: { [step.output]: read.text } } : read;
}

/** A program that cannot write its output cannot report why either, since its messages go to the same disk. */
function withCause(outcome: Outcome, { log }: AttemptOutput): Outcome {
  if (outcome.status !== 'failed' || !log.isDirect || !isDeviceFull(log.stdoutPath)) return outcome;
  return { ...outcome, message: `${outcome.message} (no space is left on the device of its log)` };
}

/** An attempt that was asked to end reports that as its cause, whatever it did last: the first cause counts. */
function afterEnd(outcome: Outcome, context: AttemptContext): Outcome {
  if (outcome.status === 'skipped' || !isAskedToEnd(context)) return outcome;
  const { signal, step } = context;
  if (signal.reason === 'unready') return outcome;
  const signalName = outcome.status === 'succeeded' ? null : outcome.signal;
  if (signal.reason === 'timeout') {
    const message = `timed out after ${formatSeconds(step.timeoutMs)}`;
    const outputs = outcome.status === 'canceled' ? {} : outcome.outputs;
    return { status: 'failed', reason: 'timeout', message, exitCode: outcome.exitCode, signal: signalName, outputs };
  }
  return { status: 'canceled', message: 'stopped', exitCode: outcome.exitCode, signal: signalName };
}

/** Formats a time limit in seconds, as in the workflow file: `2s`, `0.5s`. */
function formatSeconds(ms: number): string {
  return `${ms / 1000}s`;
}
