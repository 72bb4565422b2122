import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { numberValues, withNumbers } from '#core/step-numbers.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { BackgroundStep, NumberValue, Step, UpToDateRule } from '#core/workflow.ts';
import { EvaluationProblem } from '#environment/environment.ts';
import { firstUnmet } from '#environment/precondition.ts';
import { readItems } from '#environment/read-items.ts';
import { addStepEnv } from '#environment/variables.ts';
import type { Attempt, Scope } from '#executors/executor.ts';
import { canceled } from '#processes/end-signal.ts';
import type { LogFile, LogStream } from '#store/logs.ts';
import type { AttemptReport } from '../driver/step-task.ts';
import {
  type AttemptContext,
  captureFor,
  captureIn,
  makeAttempt,
  type StepScope,
  stepDirectory,
  stepEnvironment,
} from './attempt-context.ts';
import { afterEnd, attemptFacts, withCause, withCopies } from './attempt-results.ts';
import type { BackgroundAttempt } from './service/serve.ts';
import type { Checked } from './up-to-date.ts';

/**
 * Makes one attempt at a step: precondition, variables, directory and output files, executor, `output`. A failing step
 * is an outcome; a rejection is an internal error.
 */
export async function runAttempt(written: AttemptContext): Promise<AttemptReport> {
  const { output, secrets, variables, resultOf } = written;
  let context = written;
  try {
    const { scope, env } = variables.forStep(stepEnvironment(written), resultOf);
    if (written.step.env.length > 0) await addStepEnv(written.step.env, { scope, env, capture: captureFor(written) });
    secrets.learnStep(written.step, env, scope);
    const cwd = await stepDirectory(written, { scope, env });
    const refusal = await checkPreconditions(written, { scope, env, cwd });
    if (context.signal.aborted) return reportOf(afterEnd(canceled, context));
    if (refusal !== null) return reportOf(refusal);
    const { step, numbers } = evaluatedNumbers(written, scope);
    context = { ...written, step };
    if (step.fanOut !== undefined) {
      const items = await readItems(step.fanOut, { scope, env, cwd, capture: captureFor(context), secrets });
      const limit = numbers === undefined ? {} : { maxConcurrent: step.fanOut.maxConcurrent };
      return { ...reportOf({ status: 'succeeded', exitCode: null, outputs: {} }), items, ...limit };
    }
    const check = step.upToDate === undefined ? null : await checkedStep(context, { scope, env, cwd }, step.upToDate);
    if (context.signal.aborted) return reportOf(afterEnd(canceled, context));
    if (check !== null && 'report' in check) return check.report;
    if (context.placed !== undefined) {
      const { placeArtifacts } = await import('./place-artifacts.ts');
      const problem = await placeArtifacts(context.placed, context, { scope, cwd });
      if (context.signal.aborted) return reportOf(afterEnd(canceled, context));
      if (problem !== null) return reportOf(failed(problem));
    }
    const outcome = await withCopies(context, { scope, env, cwd }, async () => {
      env['PWD'] = cwd;
      const attempt = makeAttempt(context, { scope, env, cwd });
      const outcome = withCause(await work(context, attempt), output);
      await output.settle();
      return afterEnd(outcome, context);
    });
    const ended = await withArtifacts(context, outcome, { scope, env, cwd });
    await check?.ended(ended.outcome);
    const report = { ...ended, ...(await withFacts(context, ended.outcome, { scope, env, cwd })) };
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
  service: BackgroundStep,
  { context, attempt, run }: { context: AttemptContext } & Pick<BackgroundAttempt, 'attempt' | 'run'>,
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
    capture: (command, signal, extra) =>
      capture(command, { env: { ...env, ...extra }, cwd, shell, params: variables.args, signal }),
    logs: logsOf(context),
    ...context.service,
  });
}

function logsOf({ step, number, files, output: { log } }: AttemptContext): readonly LogFile[] {
  const logOf = (stream: LogStream) => files.logs.file(step.name, number, stream);
  return log.stdoutPath === log.stderrPath ? [logOf('output')] : [logOf('stdout'), logOf('stderr')];
}

/** Loaded only for steps with `sources`. */
async function checkedStep(context: AttemptContext, own: StepScope, rule: UpToDateRule): Promise<Checked> {
  const { checkUpToDate } = await import('./up-to-date.ts');
  return checkUpToDate(context, own, rule);
}

/** The outcome after the artifacts of the attempt were kept; `kept`: absent if the step keeps none. */
async function withArtifacts(
  context: AttemptContext,
  outcome: Outcome,
  own: StepScope,
): Promise<Pick<AttemptReport, 'outcome' | 'kept'>> {
  if (context.step.artifacts === undefined) return { outcome };
  const { keepArtifacts } = await import('./keep-artifacts.ts');
  return keepArtifacts(context, outcome, own);
}

function reportOf(outcome: Outcome): AttemptReport {
  return { outcome, facts: {} };
}

/** A condition that cannot be evaluated fails the attempt, unless the attempt was ended meanwhile. */
async function withFacts(
  context: AttemptContext,
  outcome: Outcome,
  { scope, env, cwd }: StepScope,
): Promise<AttemptReport> {
  const { step, signal } = context;
  const needed = context.neededFacts(step, outcome);
  try {
    const facts = await attemptFacts(step, needed, outcome, {
      scope,
      env,
      capture: (command, own) => captureIn(context, { env: own, cwd }, command),
      logs: logsOf(context),
    });
    return { outcome, facts };
  } catch (error) {
    if (!(error instanceof EvaluationProblem || error instanceof PathProblem)) throw error;
    return signal.aborted ? reportOf(outcome) : reportOf(failed(error.message));
  }
}

/** Returns null if the step may proceed. */
async function checkPreconditions(context: AttemptContext, { scope, env, cwd }: StepScope): Promise<Outcome | null> {
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
