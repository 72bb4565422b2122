import type { Terminal } from '#render/reporters/reporter.ts';

/** A terminal that records its output: by default 80 by 24, UTF-8, no colours. */
export function recordingTerminal(settings: Partial<Omit<Terminal, 'write'>> = {}) {
  const written: string[] = [];
  const terminal: Terminal = {
    write: (text) => written.push(typeof text === 'string' ? text : Buffer.from(text).toString('utf8')),
    isTerminal: false,
    size: () => ({ columns: 80, rows: 24 }),
    color: false,
    unicode: true,
    ...settings,
  };
  return { terminal, written, text: () => written.join('') };
}
