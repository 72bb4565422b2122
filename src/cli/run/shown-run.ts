import type { App } from '../../app.ts';
import { originsOf } from '../../core/run/origin.ts';
import type { StoredEvent } from '../../core/run/run.ts';
import type { RunState } from '../../core/run/run-state.ts';
import { summarize } from '../../core/run/summarize.ts';
import type { ActiveRun } from '../../engine/engine.ts';
import { locateSteps } from '../../language/locate.ts';
import type { ChildReporter, Recap, Reporter } from '../../render/reporters/reporter.ts';
import type { LoadedWorkflow } from '../../service/workflows/workflows.ts';

/** How much of a step's output the recap has. */
const tailLines = 10;

/** One run of those that a view shows: the run itself, or one that a step carries out. */
export type ShownRun = {
  readonly loaded: Pick<LoadedWorkflow, 'workflow' | 'sources'>;
  /** The steps that lead to it; empty for the run itself. */
  readonly path: readonly string[];
  /** The last lines of its steps. */
  readonly tails: Map<string, readonly string[]>;
  /** The last run of each step that carries out another one. */
  readonly children: Map<string, ShownRun>;
  /** The attempt that carries it out; null for the run itself. */
  readonly around: { readonly shown: ShownRun; readonly step: string; readonly attempt: number } | null;
  readonly follower: ReturnType<App['followLogs']> | null;
  /** Where its events go; null where only the step that carries it out is shown. */
  target: ChildReporter | null;
  run: ActiveRun | null;
  state: RunState | null;
};

/** Shows an event, and keeps the last lines of a step that ended with it. */
export function showEvent(shown: ShownRun, event: StoredEvent, state: RunState, reporter: Reporter, app: App): void {
  const { loaded, path, tails, run, around } = shown;
  shown.state = state;
  if (event.type === 'run.created') {
    if (path.length === 0) reporter.begin(loaded.workflow, event.runId);
    // What the step has printed so far stands above the first line of its run.
    around?.shown.follower?.catchUp(around.step, around.attempt);
    if (path.length > 0)
      shown.target = reporter.child?.({ runId: event.runId, workflow: loaded.workflow, path }) ?? null;
  }
  const wantsTail = event.type === 'step.finished' && (event.status === 'failed' || reporter.wantsTails === true);
  if (wantsTail && event.attempt > 0) {
    const paths = run?.journal.logPaths(event.step, event.attempt);
    if (paths) tails.set(event.step, app.readTail(paths, tailLines));
  }
  shown.target?.event(event, state);
  // Not when the step starts: events may be waiting here for the output of another step, and this one's would pass them.
  if (event.type === 'step.started') follow(shown, event.step, event.attempt);
}

function follow({ follower, run, target }: ShownRun, step: string, attempt: number): void {
  const paths = target === null ? undefined : run?.journal.logPaths(step, attempt);
  if (paths) follower?.follow(step, attempt, paths);
}

/** What a reporter closes with, for the run and for those that its failed steps carried out. */
export function recapOf({ loaded, tails, children, run }: ShownRun, state: RunState, kept: boolean): Recap {
  const logPath = (step: string, attempt: number) =>
    (kept ? run?.journal.logPaths(step, attempt).stdoutPath : null) ?? null;
  const summary = summarize(state, logPath);
  const failed = [...summary.steps, ...summary.handlers].filter(({ status }) => status === 'failed');
  const names = failed.map(({ name }) => name);
  const inner = names.flatMap((name) => {
    const child = children.get(name);
    return child?.state ? [[name, recapOf(child, child.state, kept)] as const] : [];
  });
  const places = names.length > 0 ? locateSteps(loaded.sources, names) : new Map();
  return {
    summary,
    places,
    tails,
    origins: originsOf(state),
    kept,
    children: new Map(inner),
    ...(run?.isMasked ? { masked: true as const } : {}),
  };
}
