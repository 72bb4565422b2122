import type { SettledStatus, StepStatus } from '#core/run/run.ts';

/** Symbols: one set for UTF-8 terminals and one in plain ASCII. */
export type Glyphs = {
  readonly run: string;
  readonly status: { readonly [status in Extract<StepStatus, SettledStatus | 'pending' | 'waiting'>]: string };
  /** A failure that does not fail the run. */
  readonly tolerated: string;
  /** The frames of the animation beside a running step. */
  readonly spinner: readonly string[];
  readonly bar: string;
  readonly corner: string;
  /** Between the items of a list of counts. */
  readonly separator: string;
  readonly ellipsis: string;
  readonly arrow: string;
};

const unicodeGlyphs: Glyphs = {
  run: '▶',
  status: {
    succeeded: '✔',
    failed: '✖',
    skipped: '↷',
    canceled: '■',
    upstream_failed: '⊘',
    pending: '○',
    waiting: '↻',
  },
  tolerated: '⚠',
  spinner: ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏'],
  bar: '│',
  corner: '┌─',
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
