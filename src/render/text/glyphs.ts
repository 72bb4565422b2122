import type { SettledStatus, StepStatus } from '../../core/run/run.ts';

/** The few signs that stand outside words, in a set for terminals that show UTF-8 and one in plain ASCII. */
export type Glyphs = {
  readonly run: string;
  readonly status: { readonly [status in Extract<StepStatus, SettledStatus | 'pending' | 'waiting'>]: string };
  /** Shown one after another beside a running step. */
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
  spinner: ['|', '/', '-', '\\'],
  bar: '|',
  corner: '-->',
  separator: ', ',
  ellipsis: '...',
  arrow: '<-',
};

/** The signs to use. */
export function chooseGlyphs(unicode: boolean): Glyphs {
  return unicode ? unicodeGlyphs : asciiGlyphs;
}
