import type { neededFacts } from '#core/run/policies.ts';
import type { AttemptFacts, Outcome } from '#core/run/run.ts';
import { expandText } from '#core/words/interpolate.ts';
import type { Precondition, Step } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import { type Captured, firstUnmet } from '#environment/precondition.ts';
import { fitsEnvironment } from '#environment/variables.ts';
import type { Scope } from '#executors/executor.ts';
import type { LogFile } from '#store/logs.ts';
import { lineTest, searchLines } from './line-search.ts';

/** Which facts the policies of a step need. */
export type NeededFacts = ReturnType<typeof neededFacts>;

/** The data of an attempt for evaluating facts about it. */
export type FactSources = {
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
