import { plainStep, plainWorkflow } from '#core/plain-workflow.ts';
import { type HandlerKind, handlerName, type Step, type Workflow } from '#core/workflow.ts';

/** A step as the defaults of the format make it: the command `true`, no dependency, one attempt. */
export function step(name: string, settings: Partial<Omit<Step, 'name'>> = {}): Step {
  return { ...plainStep, name, command: 'true', ...settings };
}

/** A handler of the given kind, under the name it has in a run. */
export function handler(kind: HandlerKind, settings: Partial<Omit<Step, 'name'>> = {}): Step {
  return step(handlerName(kind), settings);
}

/** What differs from an empty workflow; handlers that are left out do not exist. */
export type WorkflowSettings = Partial<Omit<Workflow, 'handlers'>> & {
  readonly handlers?: Partial<Workflow['handlers']>;
};

/** A workflow as the defaults of the format make it: no steps, no handlers, no limits. */
export function workflow(settings: WorkflowSettings = {}): Workflow {
  return {
    ...plainWorkflow,
    name: 'example',
    histRetentionDays: 30,
    graceMs: 60_000,
    ...settings,
    handlers: { ...plainWorkflow.handlers, ...settings.handlers },
  };
}
