import type { Terminal } from '#render/reporters/reporter.ts';

/** A progress counter on a terminal. */
export type CountLine = {
  readonly show: (done: number, total: number) => void;
  readonly clear: () => void;
};

/** Short commands show nothing. */
const firstAfterMs = 300;
const intervalMs = 100;

/** Creates the line; without a terminal it writes nothing. */
export function createCountLine(
  { write, isTerminal }: Pick<Terminal, 'write' | 'isTerminal'>,
  what: string,
): CountLine {
  let next = performance.now() + firstAfterMs;
  let isShown = false;
  return {
    show: (done, total) => {
      if (!isTerminal || performance.now() < next) return;
      next = performance.now() + intervalMs;
      isShown = true;
      write(`\r${what} ${done} of ${total} runs\u001b[K`);
    },
    clear: () => {
      if (isShown) write('\r\u001b[K');
    },
  };
}
