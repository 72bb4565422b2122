import { expect, it } from 'vitest';
import { terminalSigns } from '#cli/reporters/tree-reporter.ts';

it.each([
  ['xterm', { TERM: 'xterm-256color' }, { title: true, progress: false }],
  ['the console of Linux', { TERM: 'linux' }, { title: false, progress: false }],
  ['a dumb one', { TERM: 'dumb', WT_SESSION: 'x' }, { title: false, progress: false }],
  ['one without a name', {}, { title: false, progress: false }],
  ['Ghostty', { TERM: 'xterm-ghostty', TERM_PROGRAM: 'ghostty' }, { title: true, progress: true }],
  ['Windows Terminal', { TERM: 'xterm-256color', WT_SESSION: 'x' }, { title: true, progress: true }],
  [
    'tmux in Windows Terminal',
    { TERM: 'tmux-256color', WT_SESSION: 'x', TMUX: '/tmp/x' },
    { title: true, progress: false },
  ],
  ['kitty, which notifies by OSC 9', { TERM: 'xterm-kitty' }, { title: true, progress: false }],
  ['GNOME Terminal on VTE 0.80', { TERM: 'xterm-256color', VTE_VERSION: '8002' }, { title: true, progress: true }],
  ['GNOME Terminal on VTE 0.70', { TERM: 'xterm-256color', VTE_VERSION: '7006' }, { title: true, progress: false }],
  [
    'an old iTerm2, which notifies',
    { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.5.9' },
    { title: true, progress: false },
  ],
  [
    'a new iTerm2',
    { TERM: 'xterm-256color', TERM_PROGRAM: 'iTerm.app', TERM_PROGRAM_VERSION: '3.6.10' },
    { title: true, progress: true },
  ],
])('%s uses the known abilities', (_name, env, signs) => {
  expect(terminalSigns(env)).toEqual(signs);
});
