import { writeSync } from 'node:fs';
import { systemClock } from '../../engine/clock.ts';
import type { OutputMode } from '../../render/reporters/left-output.ts';
import type { Recap, Reporter } from '../../render/reporters/reporter.ts';
import { createTreeReporter } from '../../render/reporters/tree/tree.ts';
import type { RecapOptions } from '../../render/views/recap.ts';
import type { Console } from '../terminal/console.ts';
import { terminalSigns } from '../terminal/terminal-signs.ts';

/** Creates the reporter for a terminal. It is a module of its own because a run in a pipe does not need it. */
export function treeReporter({ outTerminal, env }: Console, recap: RecapOptions, output: OutputMode): Reporter {
  const tree = createTreeReporter(outTerminal, { ...recap, clock: systemClock, output, signs: terminalSigns(env) });
  const release = restoreAtExit(tree);
  return {
    ...tree,
    end: (found: Recap) => {
      release();
      tree.end(found);
    },
    abandon: () => {
      release();
      return tree.abandon?.() ?? '';
    },
  };
}

/** Restores cursor and title if the process ends before its run, by a bug or by Ctrl-\. */
function restoreAtExit(tree: Reporter): () => void {
  const restore = () => {
    release();
    try {
      writeSync(1, tree.abandon?.() ?? '');
    } catch {
      // The terminal has gone.
    }
  };
  const quit = () => {
    restore();
    process.kill(process.pid, 'SIGQUIT');
  };
  const release = () => void process.off('exit', restore).off('SIGQUIT', quit);
  process.once('exit', restore).once('SIGQUIT', quit);
  return release;
}
