import { cut } from '../../text/fit.ts';
import { escapeControls } from '../../text/sanitize.ts';

/** What a terminal takes beside text: a title of its window (OSC 0) and progress in its task bar or tab (OSC 9;4). */
export type TerminalSigns = { readonly title: boolean; readonly progress: boolean };

/** How far a run is. */
export type RunProgress = {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly hasFailed: boolean;
  readonly isStopping: boolean;
};

/** The title and the progress of a terminal while a run is shown in it. */
export type TerminalTitle = {
  /** What to write for the terminal to show this; empty when it does already. */
  readonly show: (progress: RunProgress) => string;
  /** What to write for the terminal to be as it was before; empty when nothing was shown. */
  readonly restore: () => string;
};

const widestTitle = 60;
const keepTitle = '\u001b[22;0t';
const giveTitleBack = '\u001b[23;0t';

/** See `TerminalTitle`. A terminal that cannot keep its title gets an empty one at the end, for which most show their own. */
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

/** 1: as it should be, 2: something failed, 4: held up. */
function stateOf({ hasFailed, isStopping }: RunProgress): 1 | 2 | 4 {
  return isStopping ? 4 : hasFailed ? 2 : 1;
}

function percentOf({ done, total }: RunProgress): number {
  return total === 0 ? 0 : Math.floor((100 * done) / total);
}
