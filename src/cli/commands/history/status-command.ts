import { isFinished } from '#core/run/run-state.ts';
import type { StepSummary } from '#core/summary/summary.ts';
import type { Recap } from '#render/reporters.ts';
import { views } from '#render/views.ts';
import type { RunService, RunView } from '#service/service.ts';
import { ifFound } from '#system/errors.ts';
import { type AccessOptions, withService } from '../../access/open-service.ts';
import { recapOptions } from '../../reporters/reporters.ts';
import type { Console } from '../../terminal/console.ts';

/** The options of `wf status`; `run` is null for the last run of all. */
type StatusOptions = AccessOptions & { readonly run: string | null };

/** Shows one run. */
export function statusCommand(options: StatusOptions, console: Console): Promise<void> {
  const { run, json } = options;
  const { out, outTerminal } = console;
  return withService({ ...options, shows: run }, console, async ({ runs, commandOptions }) => {
    const word = run ?? '@latest';
    if (json) {
      out.write(`${JSON.stringify(await runs.find(word), null, 2)}\n`);
      return;
    }
    const { renderStatus } = await views.status();
    const shownRun = await runs.view(word);
    const { state, workflow } = shownRun;
    const recap = await recapOfPast(shownRun, runs);
    const view = { run: state, workflow, recap, now: Date.now() };
    const { cwd, commands } = recapOptions(commandOptions);
    // A running run cannot be retried yet.
    const shown = { cwd, commands: { ...commands, retry: isFinished(state) } };
    out.write(renderStatus(view, outTerminal, shown));
  });
}

const MOST_CHILDREN = 20;

/** Returns the recap of a past run, with those of its running child runs, which may wait for approval. */
async function recapOfPast(view: RunView, runs: Pick<RunService, 'view'>): Promise<Recap> {
  const { summary, masked } = view;
  const running = summary.steps.flatMap((step) => [step, ...(step.items ?? [])]).filter(isRunningChild);
  const children = new Map<string, Recap>();
  for (const { name, child } of running.slice(0, MOST_CHILDREN)) {
    const run = child === undefined ? null : await ifFound(runs.view(child));
    if (run !== null) children.set(name, await recapOfPast(run, runs));
  }
  const none = new Map<string, never>();
  return { summary, positions: none, tails: none, kept: true, children, ...(masked ? { masked } : {}) };
}

function isRunningChild({ status, child }: Pick<StepSummary, 'status' | 'child'>): boolean {
  return status === 'running' && child !== undefined;
}
