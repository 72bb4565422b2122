import { type Path, type Problem, problem } from '../problem.ts';
import type { RawRepeat } from '../raw.ts';
import { spotIn } from '../read/spec-file.ts';
import type { ActionEntry } from './step/action-entries.ts';

const REPEAT_HELP = 'Add "repeat: true", or a "condition" to repeat until it is met: repeat: until.';

/** Checks `continueOn`, `retryPolicy` and `repeatPolicy` of a step or handler. */
export function policyProblems({ file, path, raw, what }: ActionEntry): Problem[] {
  const { continueOn, repeatPolicy } = raw;
  const wrong = (key: Path, message: string, help: string) =>
    problem('wrong-value', spotIn(file, [...path, ...key]), `${what}: ${message}`, { help });
  const problems: Problem[] = [];
  if (typeof continueOn === 'string' && continueOn !== 'failed' && continueOn !== 'skipped') {
    const help = 'Write "failed" or "skipped", or a map such as {failure: true, skipped: true}.';
    problems.push(wrong(['continueOn'], `"continueOn" cannot be "${continueOn}"`, help));
  }
  if (repeatPolicy === undefined) return problems;
  const { repeat, condition, exitCode } = repeatPolicy;
  const isOpen = condition === undefined && exitCode === undefined;
  if (isOpen && (repeat === 'while' || repeat === 'until')) {
    const message = `"repeat: ${repeat}" needs a "condition" or "exitCode"`;
    const help = `For example: {repeat: ${repeat}, condition: "test -f done"}`;
    const spot = spotIn(file, [...path, 'repeatPolicy', 'repeat']);
    return [...problems, problem('missing-key', spot, `${what}: ${message}`, { help })];
  }
  const idle = idleKey(repeatPolicy);
  if (idle !== null) {
    const spot = spotIn(file, [...path, 'repeatPolicy', idle], 'key');
    const message = `${what}: "${idle}" is ignored: "repeatPolicy" repeats nothing`;
    problems.push(problem('ignored-key', spot, message, { severity: 'warning', label: 'ignored', help: REPEAT_HELP }));
  }
  return problems;
}

/** A key that only means something with repetitions, in a policy that repeats nothing. */
function idleKey(policy: RawRepeat): string | null {
  if (policy.repeat !== undefined || policy.condition !== undefined || policy.exitCode !== undefined) return null;
  const keys = ['limit', 'expected', 'negate', 'backoff', 'maxIntervalSec'] as const;
  return keys.find((key) => policy[key] !== undefined) ?? null;
}
