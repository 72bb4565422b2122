import type { Param } from '../../core/run/run.ts';
import { maskWorkflow } from '../../core/secrets/mask-workflow.ts';
import type { Workflow } from '../../core/workflow.ts';
import type { Environment } from '../../engine/local/environment/environment.ts';
import { hasSecrets, knownSecrets, secretsAtRest } from '../../engine/local/environment/known-secrets.ts';

/** The workflow as it may be shown to those who watch a run of it. */
export function shownWorkflow(workflow: Workflow, given: readonly Param[], processEnv: Environment): Workflow {
  if (!hasSecrets(workflow)) return workflow;
  return maskWorkflow(workflow, secretsAtRest(workflow, knownSecrets(workflow, given, processEnv)));
}

/** The text of a workflow's file as it may be shown to those who cannot change it. */
export function shownText(text: string, workflow: Workflow, processEnv: Environment): string {
  if (!hasSecrets(workflow)) return text;
  return secretsAtRest(workflow, knownSecrets(workflow, [], processEnv)).mask(text);
}
