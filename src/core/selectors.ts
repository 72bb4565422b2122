import { expandText } from './words/interpolate.ts';
import { allSteps, type Step, type Workflow } from './workflow.ts';

/** What a worker offers, or what a step needs of its worker: values by names. */
export type Labels = Readonly<Record<string, string>>;

const LABEL_NAME = /^[A-Za-z0-9_][A-Za-z0-9._/-]{0,59}$/;
const LABEL_VALUE = /^[A-Za-z0-9._/:@-]{1,60}$/;

/** The most labels of one step. */
export const MAX_LABELS = 8;

/** The most labels of a worker, which serves each combination of them: 16 queues. */
export const MAX_WORKER_LABELS = 4;

/** Why a text cannot be the name of a label; null if it can. */
export function labelNameProblem(name: string): string | null {
  return LABEL_NAME.test(name)
    ? null
    : `${JSON.stringify(name)} is not the name of a label: at most 60 letters, digits, ".", "_", "/" and "-"`;
}

/** Why a text without variables cannot be the value of a label; null if it can. */
export function labelValueProblem(name: string, value: string): string | null {
  if (LABEL_VALUE.test(value)) return null;
  if (value === '') return `the label "${name}" is empty`;
  return `${JSON.stringify(value)} is not the value of a label: at most 60 letters, digits, ".", "_", "/", ":", "@" and "-"`;
}

/** Labels in one line, sorted by their names: `gpu=true,os=linux`. */
export function labelsText(labels: Labels): string {
  return Object.entries(labels)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

/** Reads `labelsText`, in any order. */
export function readLabels(text: string): { readonly labels: Labels } | { readonly problem: string } {
  const labels: Record<string, string> = {};
  for (const part of text.split(',').map((one) => one.trim())) {
    const end = part.indexOf('=');
    const [name, value] = end === -1 ? [part, null] : [part.slice(0, end).trim(), part.slice(end + 1).trim()];
    if (value === null) return { problem: `"${part}" is not a label: write NAME=VALUE` };
    const problem = labelNameProblem(name) ?? labelValueProblem(name, value);
    if (problem !== null) return { problem };
    if (Object.hasOwn(labels, name)) return { problem: `it has the label "${name}" twice` };
    labels[name] = value;
  }
  return { labels };
}

type SelectingStep = Step & { readonly workerSelector: Labels };

/** The steps and handlers that need a worker with labels, whose values are templates. */
export function selectingSteps(workflow: Workflow): readonly SelectingStep[] {
  return allSteps(workflow).filter((step): step is SelectingStep => step.workerSelector !== undefined);
}

/** The labels that the steps and handlers of a run need, by their names, each in one line; absent: any worker. */
export type SelectedLabels = Readonly<Record<string, string>>;

/**
 * Evaluates the selectors of a workflow with the variables that are known when a run starts. Throws a `PathProblem` as
 * `expandText`.
 */
export function selectedLabels(
  workflow: Workflow,
  scope: (name: string) => string | undefined,
): { readonly labels: SelectedLabels } | { readonly problem: string } {
  const labels: Record<string, string> = {};
  for (const { name: step, workerSelector } of selectingSteps(workflow)) {
    const own: Record<string, string> = {};
    for (const [name, template] of Object.entries(workerSelector)) {
      const value = expandText(template, scope);
      const problem = labelValueProblem(name, value);
      if (problem !== null) return { problem: `workerSelector of step "${step}": ${problem}` };
      own[name] = value;
    }
    labels[step] = labelsText(own);
  }
  return { labels };
}

/**
 * Whether the steps of a run use what others have started on their machine, a service or the container of the run: then one
 * worker executes all of them.
 */
export function needsOneWorker(workflow: Workflow): boolean {
  return workflow.container !== undefined || allSteps(workflow).some(({ service }) => service !== undefined);
}

/** The labels of a worker that has all of these, each as `labelsText`, or why there can be none. */
export function joinedLabels(texts: readonly string[]): { readonly labels: string } | { readonly problem: string } {
  const all: Record<string, string> = {};
  for (const text of texts) {
    const read = text === '' ? { labels: {} } : readLabels(text);
    if ('problem' in read) return read;
    for (const [name, value] of Object.entries(read.labels)) {
      const other = all[name];
      if (other !== undefined && other !== value)
        return {
          problem: `one worker executes all steps of this run, and cannot have both ${name}=${other} and ${name}=${value}`,
        };
      all[name] = value;
    }
  }
  return { labels: labelsText(all) };
}
