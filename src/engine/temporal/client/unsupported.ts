import { allSteps, type Step, type Workflow } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';

/** A key of a workflow that the engine does not support, its step (null: the workflow), and what to do instead. */
export type Unsupported = { readonly key: string; readonly step: string | null; readonly help: string };

/**
 * What runs can use. `keepsFiles`: workers and this machine have a directory in common, for artifacts; `isChild`: the workflow is
 * not the one that was asked for, and is named too.
 */
export type Support = { readonly keepsFiles: boolean; readonly isChild?: boolean };

/**
 * Refuses a workflow with keys that the engine does not support, before its run starts. Throws a `WfError` `usage` that
 * names each key and its step.
 */
export function refuseUnsupported(workflow: Workflow, { keepsFiles, isChild = false }: Support): void {
  const found = unsupportedIn(workflow, { keepsFiles });
  if (found.length === 0) return;
  const names = found.map(unsupportedName);
  const where = isChild ? ` of workflow "${workflow.name}"` : '';
  throw new WfError('usage', `the engine does not support ${names.join(', ')}${where}`, {
    help: 'leave these out, or run the file without --engine',
  });
}

/** The key with its step, for a message. */
export function unsupportedName({ key, step }: Pick<Unsupported, 'key' | 'step'>): string {
  return step === null ? `"${key}"` : `"${key}" of step "${step}"`;
}

/** The keys of a workflow that the engine does not support. */
export function unsupportedIn(workflow: Workflow, { keepsFiles }: Support): readonly Unsupported[] {
  return [...ofWorkflow(workflow), ...allSteps(workflow).flatMap((step) => ofStep(step, keepsFiles))];
}

/** What to do instead, as the guide has it. */
const HELP = {
  dir: 'a run has a private directory on each worker: use an image, or a program of the machine',
  stream: 'use "output" of the other step',
  artifacts: 'set engineLogs, here and for all workers, to a directory that all machines have: file:/DIRECTORY',
  attach: 'use a step that sends its files',
  sources: 'an attempt has no files of earlier runs: let the command check what is up to date',
};

function ofWorkflow(workflow: Workflow): readonly Unsupported[] {
  const { file, dir, notify = [] } = workflow;
  const mails = (['errorMail', 'infoMail', 'waitMail'] as const).filter((key) => workflow[key]?.attach !== undefined);
  const attaching = [...mails, ...(notify.some(({ attach }) => attach !== undefined) ? ['notify'] : [])];
  return [
    ...(file !== null && !file.startsWith(`${dir}/`) ? [{ key: 'dir', step: null, help: HELP.dir }] : []),
    ...attaching.map((key) => ({ key: `${key}.attach`, step: null, help: HELP.attach })),
  ];
}

function ofStep(step: Step, keepsFiles: boolean): readonly Unsupported[] {
  const { name, dir, namedStreams = [], artifacts, placed, upToDate } = step;
  const keys = [
    dir !== null && /^[/~]|(^|\/)\.\.(\/|$)/.test(dir) && 'dir',
    !keepsFiles && (artifacts ?? placed) !== undefined && 'artifacts',
    upToDate !== undefined && 'sources',
  ] as const;
  return [
    ...namedStreams.map((stream) => ({ key: `\${${name}.${stream}}`, step: name, help: HELP.stream })),
    ...keys.flatMap((key) => (key === false ? [] : [{ key, step: name, help: HELP[key] }])),
  ];
}
