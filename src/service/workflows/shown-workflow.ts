import type { Param } from '#core/run/run.ts';
import { maskWorkflow } from '#core/secrets/mask.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Environment } from '#environment/environment.ts';
import { hasSecrets, knownSecrets, secretsAtRest } from '#environment/known-secrets.ts';

/** Returns the workflow for users who watch a run, with secrets masked. */
export function shownWorkflow(workflow: Workflow, given: readonly Param[], processEnv: Environment): Workflow {
  if (!hasSecrets(workflow)) return workflow;
  return maskWorkflow(workflow, secretsAtRest(workflow, knownSecrets(workflow, given, processEnv)));
}

/** Returns the text of a workflow's file for users who may not edit it, with secrets masked. */
export function shownText(text: string, workflow: Workflow, processEnv: Environment): string {
  if (!hasSecrets(workflow)) return text;
  return secretsAtRest(workflow, knownSecrets(workflow, [], processEnv)).mask(text);
}
