import { execFileSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A real terminal of a given size that runs one command line. */
export type Tmux = {
  /** What is on the screen, and what has scrolled off it. */
  readonly text: () => string;
  /** Presses keys, named as `tmux send-keys` has them: `C-c`, `Enter`. */
  readonly type: (...keys: string[]) => void;
  /** Makes the window narrower or wider. */
  readonly resize: (columns: number) => void;
  /** Whether the cursor can be seen, and the title. */
  readonly look: () => { readonly cursor: boolean; readonly title: string };
};

/** Where and how large the terminal is, and what runs in it. */
export type TmuxOptions = {
  readonly columns: number;
  readonly rows: number;
  readonly cwd: string;
  readonly command: string;
};

/** A terminal for the time of a function. */
export async function withTmux<T>(
  { columns, rows, cwd, command }: TmuxOptions,
  use: (terminal: Tmux) => Promise<T>,
): Promise<T> {
  const socket = `wf-test-${randomUUID()}`;
  const settings = join(cwd, 'tmux.conf');
  writeFileSync(settings, 'set -g status off\nset -g history-limit 10000\n');
  const tmux = (...args: string[]) => execFileSync('tmux', ['-L', socket, '-f', settings, ...args]).toString();
  tmux('new-session', '-d', '-x', String(columns), '-y', String(rows), '-c', cwd, `${command}; sleep 60`);
  try {
    return await use({
      text: () => tmux('capture-pane', '-p', '-S', '-10000'),
      type: (...keys) => tmux('send-keys', ...keys),
      resize: (width) => void tmux('resize-window', '-x', String(width), '-y', String(rows)),
      look: () => {
        const [cursor, ...title] = tmux('display-message', '-p', '#{cursor_flag} #{pane_title}').trimEnd().split(' ');
        return { cursor: cursor === '1', title: title.join(' ') };
      },
    });
  } finally {
    tmux('kill-server');
  }
}

const mostPatienceMs = 20_000;

/**
 * Resolves to what the terminal shows, lines without the spaces at their ends, once that holds a text and is as `fits` wants
 * it.
 */
export async function untilShown(
  terminal: Tmux,
  text: string,
  fits: (screen: string) => boolean = () => true,
): Promise<string> {
  const deadline = performance.now() + mostPatienceMs;
  for (let found = terminal.text(); ; found = terminal.text()) {
    if (found.includes(text) && fits(found)) return found;
    if (performance.now() > deadline) throw new Error(`"${text}" is not shown:\n${found.trimEnd()}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
