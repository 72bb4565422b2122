import type { Step } from '../workflow.ts';

/**
 * Whether an attempt at the step only runs a program: before it starts, nothing is created but its logs and the script file.
 */
export function isOnlyProgram(step: Step): boolean {
  const { executor, command, script, env, preconditions, stdout, stderr, numbers, fanOut, service, approval } = step;
  if (executor.type !== 'command' || (command === null && script === null)) return false;
  if (env.length > 0 || preconditions.length > 0 || stdout !== null || stderr !== null) return false;
  return [numbers, fanOut, service, approval].every((extra) => extra === undefined);
}

/**
 * Whether an attempt at the step can be prepared while independent steps run: neither does what follows from their ends
 * concern it, as the failure of another instance of its fan-out does, nor does its own end change the variables of others.
 */
export function mayStartAhead(step: Step): boolean {
  return isOnlyProgram(step) && step.output === null && step.published === undefined && step.instanceOf === undefined;
}
