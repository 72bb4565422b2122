import { Chalk, type ChalkInstance } from 'chalk';
import type { RunStatus, SettledStatus, StepStatus } from '#core/run/run.ts';

/** Colours for the text of `wf`: the 16 that every theme defines, or none, as the `Terminal` of the caller says. */
export function createColors(color: boolean): ChalkInstance {
  return new Chalk({ level: color ? 1 : 0 });
}

/** The colour of a final status of a step or run; none for others. */
const statusColors: Readonly<Record<string, 'green' | 'red' | 'yellow'>> = {
  succeeded: 'green',
  failed: 'red',
  partially_succeeded: 'yellow',
  skipped: 'yellow',
  canceled: 'yellow',
  upstream_failed: 'yellow',
};

/** Paints a text in the colour of a status; that of an active step or run has none. */
export function paintStatus(status: StepStatus | RunStatus, colors: ChalkInstance, text: string): string {
  const color = statusColors[status];
  return color === undefined ? text : colors[color](text);
}

/** Red is reserved for failures. */
const stepColors = [
  'cyan',
  'magenta',
  'yellow',
  'blue',
  'green',
  'cyanBright',
  'magentaBright',
  'yellowBright',
  'blueBright',
  'greenBright',
] as const;

/** Returns the colour of the step at `index` in its file: always the same, and different from its neighbours. */
export function colorStep(colors: ChalkInstance, index: number, text: string): string {
  return colors[stepColors[index % stepColors.length] ?? 'cyan'](text);
}

/** Symbols: one set for UTF-8 terminals and one in plain ASCII. */
export type Glyphs = typeof unicodeGlyphs;

const unicodeGlyphs = {
  run: '▶',
  status: {
    succeeded: '✔',
    failed: '✖',
    skipped: '↷',
    canceled: '■',
    upstream_failed: '⊘',
    pending: '○',
    waiting: '↻',
  } satisfies { readonly [status in Extract<StepStatus, SettledStatus | 'pending' | 'waiting'>]: string },
  /** A failure that does not fail the run. */
  tolerated: '⚠',
  /** A step that did not have to run. */
  upToDate: '≡',
  /** The frames of the animation beside a running step. */
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  bar: '│',
  corner: '┌─',
  /** Between the items of a list of counts. */
  separator: ' · ',
  ellipsis: '…',
  arrow: '←',
};

const asciiGlyphs: Glyphs = {
  run: '>',
  status: {
    succeeded: '+',
    failed: 'x',
    skipped: '-',
    canceled: '!',
    upstream_failed: '-',
    pending: '.',
    waiting: '~',
  },
  tolerated: '*',
  upToDate: '=',
  spinner: ['|', '/', '-', '\\'],
  bar: '|',
  corner: '-->',
  separator: ', ',
  ellipsis: '...',
  arrow: '<-',
};

/** Returns the set of symbols to use. */
export function chooseGlyphs(unicode: boolean): Glyphs {
  return unicode ? unicodeGlyphs : asciiGlyphs;
}
