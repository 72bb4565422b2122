import { writeSync } from 'node:fs';
import {
  createTreeReporter,
  type OutputMode,
  type Recap,
  type RecapOptions,
  type Reporter,
  type TerminalSigns,
} from '#render/reporters.ts';
import { systemClock } from '#system/clock.ts';
import { tryOr } from '#system/errors.ts';
import type { Console } from '../terminal/console.ts';

/** Creates the reporter for a terminal. It is a module of its own because a run in a pipe does not need it. */
export function treeReporter({ outTerminal, env }: Console, recap: RecapOptions, output: OutputMode): Reporter {
  const signs = terminalSigns(env);
  const pushesRows = Boolean(env['TMUX']);
  const tree = createTreeReporter(outTerminal, { ...recap, clock: systemClock, output, signs, pushesRows });
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
    // The terminal may have gone.
    tryOr(null, () => writeSync(1, tree.abandon?.() ?? ''));
  };
  const quit = () => {
    restore();
    process.kill(process.pid, 'SIGQUIT');
  };
  const release = () => void process.off('exit', restore).off('SIGQUIT', quit);
  process.once('exit', restore).once('SIGQUIT', quit);
  return release;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Returns the sequences that a terminal supports, by its variables; an unknown one might beep or print them, and gets none. */
export function terminalSigns(env: Environment): TerminalSigns {
  return { title: takesTitle(env), progress: takesProgress(env) };
}

function takesTitle({ TERM = '' }: Environment): boolean {
  return /^(xterm|rxvt|tmux|screen|alacritty|foot|konsole|kitty|wezterm|ghostty|vte|gnome|st-|contour)/.test(TERM);
}

/** In tmux and screen the variables describe the outer terminal, which the sequences do not reach. */
function takesProgress(env: Environment): boolean {
  if (env['TMUX'] || env['STY'] || !takesTitle(env)) return false;
  const { TERM_PROGRAM: program, TERM_PROGRAM_VERSION: version = '' } = env;
  if (program === 'ghostty' || program === 'WezTerm' || env['ConEmuANSI'] === 'ON' || env['WT_SESSION']) return true;
  if (program === 'iTerm.app') return isAtLeast(version, [3, 6, 6]);
  // The terminals of GNOME and Xfce, and others that are built on VTE 0.80 or later.
  return Number(env['VTE_VERSION'] ?? 0) >= 8000;
}

function isAtLeast(version: string, least: readonly number[]): boolean {
  const parts = version.split('.').map((part) => Number.parseInt(part, 10) || 0);
  const at = least.findIndex((number, index) => (parts[index] ?? 0) !== number);
  return at === -1 || (parts[at] ?? 0) > (least[at] ?? 0);
}
