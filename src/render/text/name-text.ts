import { cut } from './fit.ts';
import { escapeControls } from './sanitize.ts';

/** The longest name in cells: enough to search for, and short enough to leave room for the rest of the line. */
const widestName = 100;

/** Returns the name of a workflow, step or handler for a line: escaped, and cut if it is too long. */
export function nameText(name: string, ellipsis = '...'): string {
  return name.length <= widestName ? escapeControls(name) : cut(escapeControls(name), widestName, ellipsis);
}
