import { joinedLabels, needsOneWorker, selectedLabels, selectingSteps } from '#core/selectors.ts';
import { PathProblem } from '#core/words/json-path.ts';
import type { Workflow } from '#core/workflow.ts';
import { WfError } from '#system/errors.ts';
import { namedLocks } from '../../attempt/run-locks.ts';
import type { PrepareReport } from '../protocol.ts';

type Scope = (name: string) => string | undefined;
type Problem = { readonly problem: string };
type Names = Pick<NonNullable<PrepareReport['evaluated']>, 'labels' | 'locks'>;

/**
 * The labels that the steps of a run need, and its locks, with the values of the variables in their names. The engine encrypts
 * neither: a secret in one is a problem.
 */
export function namesOfRun(workflow: Workflow, scope: Scope, holdsSecret: (text: string) => boolean): Names | Problem {
  const labels = labelsOfRun(workflow, scope, holdsSecret);
  const locks = locksOfRun(workflow, scope, holdsSecret);
  if ('problem' in labels) return labels;
  return 'problem' in locks ? locks : { ...labels, ...locks };
}

function labelsOfRun(
  workflow: Workflow,
  scope: Scope,
  holdsSecret: (text: string) => boolean,
): Pick<Names, 'labels'> | Problem {
  if (selectingSteps(workflow).length === 0) return {};
  try {
    const selected = selectedLabels(workflow, scope);
    const hidden = Object.entries('labels' in selected ? selected.labels : {}).find(([, text]) => holdsSecret(text));
    if (hidden === undefined) {
      const areJoined = needsOneWorker(workflow) && 'labels' in selected;
      const joined = areJoined ? joinedLabels(Object.values(selected.labels)) : {};
      return 'problem' in joined ? { problem: `workerSelector: ${joined.problem}` } : selected;
    }
    return { problem: `workerSelector of step "${hidden[0]}" contains a secret: the engine shows labels to everyone` };
  } catch (error) {
    if (!(error instanceof PathProblem)) throw error;
    return { problem: `workerSelector: ${error.message}` };
  }
}

function locksOfRun(
  { locks }: Workflow,
  scope: Scope,
  holdsSecret: (text: string) => boolean,
): Pick<Names, 'locks'> | Problem {
  if (locks === undefined) return {};
  try {
    return { locks: namedLocks(locks, scope, holdsSecret) };
  } catch (error) {
    if (!(error instanceof WfError)) throw error;
    return { problem: error.message };
  }
}
