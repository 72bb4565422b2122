import type { ActiveRun, ChildWatcher, RunWatcher } from '#engine/engine.ts';
import type { Reporter } from '#render/reporters.ts';
import type { ApprovalPrompts } from './approval-prompts.ts';

/** Asks the person at the terminal about steps that wait for approval, of a run and its child runs. */
export type ApprovalAsker = {
  /** Watches a run besides `watcher`. */
  readonly watching: (watcher: ChildWatcher) => ChildWatcher;
  /** Withdraws the question and releases the keyboard. */
  readonly close: () => void;
};

/** Creates the asker; its modules are loaded with the first step that waits. */
export function createApprovalAsker(prompt: NonNullable<Reporter['prompt']>): ApprovalAsker {
  let prompts: Promise<ApprovalPrompts> | null = null;
  const take = (run: ActiveRun | null, ...[event, state]: Parameters<RunWatcher>) => {
    if (event.type === 'step.held') {
      prompts ??= import('./approval-prompts.ts').then((loaded) => new loaded.ApprovalPrompts(prompt));
    }
    if (run !== null) void prompts?.then((loaded) => loaded.watch(run, event, state));
  };
  return {
    watching: ({ watch, attach }) => {
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
