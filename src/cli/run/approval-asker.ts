import type { ActiveRun, ChildWatcher, RunWatcher } from '#engine/engine.ts';
import type { Reporter } from '#render/reporters.ts';
import type { ApprovalPrompts } from './approval-prompts.ts';

/** Asks about steps of a run and its child runs that wait for approval. Loads its modules with the first of them. */
export function createApprovalAsker(prompt: NonNullable<Reporter['prompt']>) {
  let prompts: Promise<ApprovalPrompts> | null = null;
  const take = (run: ActiveRun | null, ...[event, state]: Parameters<RunWatcher>) => {
    if (event.type === 'step.held') {
      prompts ??= import('./approval-prompts.ts').then((loaded) => new loaded.ApprovalPrompts(prompt));
    }
    if (run !== null) void prompts?.then((loaded) => loaded.watch(run, event, state));
  };
  return {
    /** Watches a run besides another watcher. */
    watching: ({ watch, attach }: ChildWatcher): ChildWatcher => {
      let active: ActiveRun | null = null;
      return {
        watch: (event, state) => {
          watch(event, state);
          take(active, event, state);
        },
        attach: (run) => {
          active = run;
          attach(run);
        },
      };
    },
    close: () => void prompts?.then((loaded) => loaded.close()),
  };
}
