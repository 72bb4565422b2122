/** What commands print on a terminal: colours, symbols and tables. */

export type { Terminal } from './reporters/reporter.ts';
export { renderTable } from './text/table.ts';
export { chooseGlyphs, createColors } from './text/terminal-style.ts';
