import { originsOf } from '../../core/run/origin.ts';
import { WfError } from '../../errors.ts';
import type { Recap } from '../../render/reporters/reporter.ts';
import type { RunAccess, RunView } from '../../service/history/run-access.ts';

/** A recap shows no more failed steps. */
const mostChildren = 20;

/** The recap of a past run, with those of the runs that carried out its failed steps. */
export async function recapOfPast(view: RunView, access: Pick<RunAccess, 'view'>): Promise<Recap> {
  const { summary, state, places, tails, masked } = view;
  const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
  const children = new Map<string, Recap>();
  for (const { name, child } of failed.slice(0, mostChildren)) {
    const run = child === undefined ? null : await viewIfThere(child, access);
    if (run !== null) children.set(name, await recapOfPast(run, access));
  }
  return { summary, places, tails, origins: originsOf(state), kept: true, children, ...(masked ? { masked } : {}) };
}

/** Null for a run that was removed from the history. */
async function viewIfThere(runId: string, { view }: Pick<RunAccess, 'view'>): Promise<RunView | null> {
  try {
    return await view(runId);
  } catch (error) {
    if (error instanceof WfError && error.code === 'not-found') return null;
    throw error;
  }
}
