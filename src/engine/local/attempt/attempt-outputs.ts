import { existsSync } from 'node:fs';
import { failed } from '#core/run/outcome.ts';
import type { Outcome } from '#core/run/run.ts';
import { PathProblem } from '#core/words/json-path.ts';
import { pathFrom } from '#environment/environment.ts';
import { evaluateText } from '#environment/step-env.ts';
import type { Scope } from '#executors/executor.ts';
import { OutputCopy } from '../output/output-copy.ts';
import type { publishedOutputs } from '../output/published-outputs.ts';
import { type AttemptContext, captureFor, type StepPlace } from './attempt-context.ts';
import { afterEnd } from './attempt-outcome.ts';

/** Runs the work, copies its output to the files named by `stdout` and `stderr`, then reads `output`. */
export async function withCopies(
  context: AttemptContext,
  { scope, env, cwd }: StepPlace,
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
  const read = await readOutputs(own);
  if ('outputs' in read) return { ...outcome, outputs: { ...outcome.outputs, ...read.outputs } };
  return outcome.status === 'succeeded' ? failed(read.problem) : outcome;
}

async function readOutputs({ context, scope, cwd }: OutputContext): ReturnType<typeof publishedOutputs> {
  const { step, output, maxOutputBytes } = context;
  if (step.published !== undefined) {
    const { publishedOutputs } = await import('../output/published-outputs.ts');
    return publishedOutputs(step.published, { output, scope, cwd, maxBytes: maxOutputBytes });
  }
  if (step.output === null) return { outputs: {} };
  const read = output.text(step.output, 'stdout');
  return 'text' in read ? { outputs: { [step.output]: read.text } } : read;
}
