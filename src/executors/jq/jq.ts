import { join } from 'node:path';
import type { Outcome } from '../../core/run/run.ts';
import type { JsonObject } from '../../core/workflow.ts';
import { canceled, isAskedToEnd } from '../../processes/end-signal.ts';
import type { Attempt, Executor } from '../executor.ts';
import { expandJson } from '../http/json-template.ts';
import { type JqEnd, startJq } from './jq-thread/thread.ts';
import { jqProgram } from './program.ts';

/**
 * Runs `command`, a filter of jq, over the JSON of `script`. Without a filter the input is printed with sorted keys.
 * Exit codes as jq has them: 2 for input that is not JSON, 3 for a filter that is none, 5 for an error of the filter.
 */
export const executor: Executor = { run };

/** Printed in front of the line that counts, and of no interest in a workflow. */
const NOISE = / \(at <\w+>(?::\d+)?\)| \(Unix shell quoting issues\?\)| at <top-level>(?=, line)/g;

async function run(config: JsonObject, attempt: Attempt): Promise<Outcome> {
  const { step, scope, env, log, signal, kill } = attempt;
  if (isAskedToEnd(attempt)) return canceled;
  const args = argsOf(config, attempt);
  const input = expandJson(step.script ?? '', scope);
  const { stdoutFd, stderrFd } = log;
  const thread = startJq({ args, input, env, stdoutFd, stderrFd }, join(import.meta.dirname, 'jq-thread'));
  const releases = [signal.onAbort(thread.end), kill.onAbort(thread.end)];
  try {
    attempt.started(null);
    const end = await thread.ended;
    return isAskedToEnd(attempt) ? canceled : toOutcome(end);
  } finally {
    for (const release of releases) release();
  }
}

/** Each result is written out when it is there. */
function argsOf(config: JsonObject, { step, scope }: Attempt): string[] {
  const { command } = step;
  const words = [...(typeof command === 'string' ? [command] : (command ?? [])), ...step.args];
  const { filter, variables } = jqProgram(words.join(' '), scope);
  const options = ['--unbuffered', '--indent', '4', ...(config.raw === true ? ['-r'] : [])];
  // As JSON, in which a text may hold anything.
  for (const [name, value] of variables) options.push('--argjson', name, JSON.stringify(value));
  // The blank keeps a filter that begins with a minus from being taken for an option.
  return filter.trim() === '' ? [...options, '-S', '.'] : [...options, filter.replace(/^-/, ' -')];
}

function toOutcome(end: JqEnd): Outcome {
  if ('problem' in end) {
    const message = `jq could not go on: ${end.problem}`;
    return { status: 'failed', reason: 'error', message, exitCode: null, signal: null, outputs: {} };
  }
  const { code, firstError, lastError } = end;
  if (code === 0 && firstError === '') return { status: 'succeeded', exitCode: 0, outputs: {} };
  const message = firstError === '' ? `exit ${code}` : firstError.replaceAll(NOISE, '').replace(/:$/, '');
  // This jq has 5 for it, as for any error, and 0 for an error that another input follows.
  const exitCode = lastError.startsWith('jq: parse error') ? 2 : code || 5;
  return { status: 'failed', reason: 'exit', message, exitCode, signal: null, outputs: {} };
}
