import type { Terminal } from '../reporters/reporter.ts';
import { escapeControls } from '../text/sanitize.ts';
import { headRow, plain, renderTable } from '../text/table.ts';
import { createColors } from '../text/terminal-style.ts';
import { byteText, counted } from '../text/value-text.ts';

/** Renders the kept files of a run, one per line, and their total size. Ends with a line break. */
export function renderArtifacts(
  artifacts: readonly { readonly name: string; readonly bytes: number; readonly removed?: true }[],
  { color }: Pick<Terminal, 'color'>,
): string {
  if (artifacts.length === 0) return 'no artifacts\n';
  const colors = createColors(color);
  const rows = artifacts.map(({ name, bytes }) => [
    { text: byteText(bytes), paint: plain },
    { text: escapeControls(name), paint: plain },
  ]);
  const total = artifacts.reduce((sum, { bytes }) => sum + bytes, 0);
  const removed = artifacts.some((artifact) => artifact.removed) ? '; the files have been removed' : '';
  return `${renderTable([headRow(['SIZE', 'FILE'], colors), ...rows])}${counted(artifacts.length, 'file')}, ${byteText(total)}${removed}\n`;
}
