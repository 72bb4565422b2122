import { cut } from './fit.ts';
import { escapeControls } from './sanitize.ts';

/** In cells. Nothing is searched for by more letters than this, and a longer name would hide what stands behind it. */
const widestName = 100;

/** A name of the user's (of a workflow, step or handler) as it stands in a line: harmless, and cut where it is too long. */
export function nameText(name: string, ellipsis = '...'): string {
  return name.length <= widestName ? escapeControls(name) : cut(escapeControls(name), widestName, ellipsis);
}
