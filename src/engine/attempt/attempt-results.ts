import { existsSync } from 'node:fs';
import { failed } from '#core/run/outcome.ts';
import type { AttemptFacts, Outcome } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Precondition, Step } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import { type Captured, firstUnmet } from '#environment/precondition.ts';
import { evaluateText, fitsEnvironment } from '#environment/variables.ts';
import type { Scope } from '#executors/executor.ts';
import { isAskedToEnd } from '#processes/end-signal.ts';
import type { LogFile } from '#store/logs.ts';
import { pathFrom } from '#system/files.ts';
import {
  type AttemptContext,
  captureFor,
  hasDeclaredOutputs,
  type NeededFacts,
  type StepScope,
} from './attempt-context.ts';
import { lineTest, searchLines } from './line-search.ts';
import { type AttemptOutput, isDeviceFull } from './output/attempt-output.ts';
import { OutputCopy } from './output/output-copy.ts';
import type { publishedOutputs } from './output/published-outputs.ts';

/** The data of an attempt for evaluating facts about it. */
type FactSources = {
  readonly scope: Scope;
  readonly env: Environment;
  /** Runs a command of a condition. */
  readonly capture: (command: string, env: Environment) => Promise<Captured>;
  /** The logs of the attempt, complete. */
  readonly logs: readonly LogFile[];
};

/**
 * Evaluates what the policies of a step need to know about an attempt besides its outcome. Throws an `EvaluationProblem`
 * for a condition that cannot be evaluated.
 */
export async function attemptFacts(
  { continueOn, repeat, approval }: Pick<Step, 'continueOn' | 'repeat' | 'approval'>,
  needed: NeededFacts,
  outcome: Outcome,
  sources: FactSources,
): Promise<AttemptFacts> {
  const condition = repeat?.condition;
  return {
    ...(needed.random ? { random: Math.random() } : {}),
    ...(needed.prompt ? { prompt: expandText(approval?.prompt ?? '', scopeAfter(outcome, sources)) } : {}),
    ...(needed.outputMatched ? { outputMatched: await printed(continueOn.output ?? [], sources.logs) } : {}),
    ...(needed.conditionMet && condition !== undefined
      ? { conditionMet: await isMet(condition, outcome, sources) }
      : {}),
  };
}

/** The variables after an attempt, its own outputs included. */
function scopeAfter(outcome: Outcome, { scope }: Pick<FactSources, 'scope'>): Scope {
  const outputs = 'outputs' in outcome ? outcome.outputs : {};
  return (name) => (Object.hasOwn(outputs, name) ? outputs[name] : scope(name));
}

/** The condition sees the outputs of the repetition that has just ended. */
async function isMet(
  condition: Precondition,
  outcome: Outcome,
  { scope, env, capture }: FactSources,
): Promise<boolean> {
  const outputs = 'outputs' in outcome ? outcome.outputs : {};
  const fitting = Object.fromEntries(Object.entries(outputs).filter(([, value]) => fitsEnvironment(value)));
  const unmet = await firstUnmet([condition], {
    what: 'repeat condition',
    scope: scopeAfter(outcome, { scope }),
    capture: (command, extra) => capture(command, { ...env, ...fitting, ...extra }),
  });
  return unmet === null;
}

/** Whether a line of the logs holds one of the texts, or matches one that starts with `re:`. */
async function printed(texts: readonly string[], logs: readonly LogFile[]): Promise<boolean> {
  const tests = texts.map(lineTest);
  const test = (line: string) => tests.some((matches) => matches(line));
  for (const log of logs) if ((await searchLines(log, { from: 0, test })) === null) return true;
  return false;
}

/** Runs the work, copies its output to the files named by `stdout` and `stderr`, then reads `output`. */
export async function withCopies(
  context: AttemptContext,
  { scope, env, cwd }: StepScope,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  const { step, output } = context;
  const hasCopies = step.stdout !== null || step.stderr !== null;
  if (hasCopies && !existsSync(cwd)) return failed(`directory "${cwd}" does not exist`);
  const copies: OutputCopy[] = [];
  const endCopies = () => Promise.all(copies.map((copy) => copy.end(context.signal)));
  let outcome: Outcome;
  try {
    for (const stream of ['stdout', 'stderr'] as const) {
      const file = step[stream];
      const isCopied = stream === 'stderr' && file === step.stdout && output.pathOf('stdout') === output.pathOf(stream);
      if (file === null || isCopied) continue;
      const path = await evaluateText(`"${stream}"`, file, { scope, env, capture: captureFor(context) });
      copies.push(new OutputCopy(output.pathOf(stream), pathFrom(cwd, path, scope('HOME'))));
    }
    outcome = await withOutput(await work(), { context, scope, cwd });
  } catch (error) {
    if (!(error instanceof OutputCopy.Problem || error instanceof PathProblem)) {
      await endCopies();
      throw error;
    }
    outcome = failed(error.message);
  }
  const ends = await endCopies();
  const problem = ends.find((found) => found !== null) ?? null;
  return problem !== null && outcome.status === 'succeeded' ? afterEnd(failed(problem), context) : outcome;
}

type OutputContext = { readonly context: AttemptContext; readonly scope: Scope; readonly cwd: string };

async function withOutput(outcome: Outcome, own: OutputContext): Promise<Outcome> {
  if (outcome.status !== 'succeeded' && outcome.status !== 'failed') return outcome;
  // What a failed program wrote into its file is not published.
  if (outcome.status === 'failed' && hasDeclaredOutputs(own.context.step)) return outcome;
  const read = await readOutputs(own);
  if ('outputs' in read) return { ...outcome, outputs: { ...outcome.outputs, ...read.outputs } };
  return outcome.status === 'succeeded' ? failed(read.problem) : outcome;
}

async function readOutputs({ context, scope, cwd }: OutputContext): ReturnType<typeof publishedOutputs> {
  const { step, output, maxOutputBytes } = context;
  if (step.published !== undefined) {
    const { publishedOutputs } = await import('./output/published-outputs.ts');
    return publishedOutputs(step.published, { output, scope, cwd, maxBytes: maxOutputBytes });
  }
  if (step.output === null) return { outputs: {} };
  const read = output.text(step.output, 'stdout');
  return 'text' in read ? { outputs: { [step.output]: read.text } } : read;
}

/** A program that cannot write its output cannot report why either, since its messages go to the same disk. */
export function withCause(outcome: Outcome, { log }: AttemptOutput): Outcome {
  if (outcome.status !== 'failed' || !log.isDirect || !isDeviceFull(log.stdoutPath)) return outcome;
  return { ...outcome, message: `${outcome.message} (no space is left on the device of its log)` };
}

/** An attempt that was ended reports the first cause of that, whatever it did last. */
export function afterEnd(outcome: Outcome, context: AttemptContext): Outcome {
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
