import { escapeControls } from '../../text/sanitize.ts';
import { cut } from '../../text/width.ts';

/** The features of a terminal: a window title (OSC 0) and progress in its task bar or tab (OSC 9;4). */
export type TerminalSigns = { readonly title: boolean; readonly progress: boolean };

/** The progress of a run. */
export type RunProgress = {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly hasFailed: boolean;
  readonly isStopping: boolean;
};

/** The title and the progress of a terminal while a run is shown in it. */
export type TerminalTitle = {
  /** Returns the text that shows this; empty if nothing changed. */
  readonly show: (progress: RunProgress) => string;
  /** Returns the text that restores the terminal; empty if nothing was shown. */
  readonly restore: () => string;
};

const widestTitle = 60;
const keepTitle = '\u001b[22;0t';
const giveTitleBack = '\u001b[23;0t';

/** Creates a `TerminalTitle`. A terminal that cannot save its title gets an empty one at the end; most then show their own. */
export function createTerminalTitle({ title, progress }: TerminalSigns): TerminalTitle {
  let shown = '';
  const osc = (text: string) => `\u001b]${text}\u0007`;
  return {
    show: (run) => {
      const name = cut(escapeControls(run.name), widestTitle, '...');
      const texts = [
        ...(title ? [osc(`0;${run.done}/${run.total} ${name}`)] : []),
        ...(progress ? [osc(`9;4;${stateOf(run)};${percentOf(run)}`)] : []),
      ].join('');
      if (texts === shown) return '';
      const before = shown === '' && title ? keepTitle : '';
      shown = texts;
      return before + texts;
    },
    restore: () => {
      if (shown === '') return '';
      shown = '';
      return (progress ? osc('9;4;0;0') : '') + (title ? osc('0;') + giveTitleBack : '');
    },
  };
}

/** 1: normal, 2: a step failed, 4: paused. */
function stateOf({ hasFailed, isStopping }: RunProgress): 1 | 2 | 4 {
  return isStopping ? 4 : hasFailed ? 2 : 1;
}

function percentOf({ done, total }: RunProgress): number {
  return total === 0 ? 0 : Math.floor((100 * done) / total);
}
