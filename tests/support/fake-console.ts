import type { Console } from '#cli/terminal/console.ts';

/** A console that keeps what is printed: no terminal, without colours. */
export function fakeConsole(): { readonly console: Console; readonly printed: () => { out: string; err: string } } {
  const printed = { out: '', err: '' };
  const output = (stream: 'out' | 'err') => ({
    write: (text: string | Uint8Array) => {
      printed[stream] += typeof text === 'string' ? text : Buffer.from(text).toString();
    },
    isBehind: () => false,
    drained: () => Promise.resolve(),
    isClosed: () => false,
    hasFailed: () => false,
  });
  const [out, err] = [output('out'), output('err')];
  const terminal = { isTerminal: false, size: () => ({ columns: 80, rows: 24 }), color: false, unicode: true };
  const console = {
    out,
    err,
    env: {},
    outTerminal: { ...terminal, write: out.write },
    errTerminal: { ...terminal, write: err.write },
  };
  return { console, printed: () => ({ ...printed }) };
}
