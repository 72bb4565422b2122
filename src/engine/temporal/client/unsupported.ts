import { allSteps, type Step, type Workflow } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';

/** A key of a workflow that the engine does not support, and its step. */
type Found = { readonly key: string; readonly step: string | null };

/**
 * Refuses a workflow with keys that the engine does not support, before its run starts. Throws a `WfError` `usage` that
 * names each key and its step. `isChild`: the workflow is not the one that was asked for, and is named too.
 */
export function refuseUnsupported(workflow: Workflow, isChild = false): void {
  const found = [...ofWorkflow(workflow), ...allSteps(workflow).flatMap((step) => ofStep(step))];
  if (found.length === 0) return;
  const names = found.map(({ key, step }) => (step === null ? `"${key}"` : `"${key}" of step "${step}"`));
  const where = isChild ? ` of workflow "${workflow.name}"` : '';
  throw new WfError('usage', `the engine does not support ${names.join(', ')}${where}`, {
    help: 'leave these out, or run the file without --engine',
  });
}

function ofWorkflow(workflow: Workflow): readonly Found[] {
  const { notify = [], mailOn, smtp, container, file, dir, locks } = workflow;
  const keys = [
    notify.length > 0 && 'notify',
    smtp !== null &&
      (mailOn.failure || mailOn.success || mailOn.cancel || mailOn.wait === true || mailOn.late === true) &&
      'mailOn',
    container !== undefined && 'container',
    locks !== undefined && 'locks',
    file !== null && !file.startsWith(`${dir}/`) && 'dir',
  ];
  return keys.flatMap((key) => (key === false ? [] : [{ key, step: null }]));
}

function ofStep(step: Step): readonly Found[] {
  const { name, service, dir, namedStreams = [], mailOn, leaveBackground, locks, artifacts, upToDate } = step;
  const keys = [
    service !== undefined && 'service',
    dir !== null && /^[/~]|(^|\/)\.\.(\/|$)/.test(dir) && 'dir',
    ...namedStreams.map((stream) => `\${${name}.${stream}}`),
    (mailOn.failure || mailOn.success) && 'mailOn',
    leaveBackground && 'leaveBackground',
    locks !== undefined && 'locks',
    artifacts !== undefined && 'artifacts',
    upToDate !== undefined && 'sources',
  ];
  return keys.flatMap((key) => (key === false ? [] : [{ key, step: name }]));
}
