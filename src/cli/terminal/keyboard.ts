import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { nextTurn } from '#system/turns.ts';

/** Lines that a person types while something else paints the terminal. Nothing is echoed. */
export type Keyboard = {
  /**
   * Reads one line. `shown` paints the typed text, with the position of the cursor, at first and after each key.
   * Returns null once the keyboard is closed, or at Ctrl-D.
   */
  readonly read: (shown: (typed: string, cursor: number) => void) => Promise<string | null>;
  /** Releases the keyboard; can be called several times. */
  readonly close: () => void;
};

/** Opens standard input, which must be a terminal. Ctrl-C is still SIGINT; text typed before is discarded. */
export function openKeyboard(): Keyboard {
  const silence = new Writable({ write: (_chunk, _encoding, done) => done() });
  const { stdin } = process;
  const line = createInterface({ input: stdin, output: silence, terminal: true, historySize: 0 });
  let isClosed = false;
  let paint = () => {};
  let take: (text: string | null) => void = () => {};
  const painting = () => paint();
  // After the listener of `line`, which has taken the key by then.
  stdin.on('keypress', painting);
  line.on('SIGINT', () => void process.kill(process.pid, 'SIGINT'));
  line.on('line', (text) => take(text));
  line.once('close', () => {
    isClosed = true;
    stdin.off('keypress', painting);
    take(null);
  });
  const isDrained = discardTyped(line);
  return {
    read: async (shown) => {
      await isDrained;
      if (isClosed) return null;
      paint = () => shown(line.line, line.cursor);
      paint();
      const text = await new Promise<string | null>((resolve) => {
        take = resolve;
      });
      paint = () => {};
      return text;
    },
    close: () => line.close(),
  };
}

/** Keys that were typed before the question arrive in the first turns and are discarded. */
async function discardTyped(line: ReturnType<typeof createInterface>): Promise<void> {
  for (let turn = 0; turn < 3; turn += 1) await nextTurn();
  if (line.line !== '') line.write(null, { ctrl: true, name: 'u' });
}
