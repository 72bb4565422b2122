import type { StoredEvent } from '#core/run/run.ts';
import type { Workflow } from '#core/workflow.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { chooseGlyphs } from '../text/glyphs.ts';
import { columnsOf, packLines } from '../text/pack-lines.ts';
import { hideSecretParams, paramsText } from '../text/run-text.ts';
import { escapeControls } from '../text/sanitize.ts';
import { shortId } from '../text/value-text.ts';
import { cut, nameText } from '../text/width.ts';

/** Parameters can have any size; longer ones are cut. */
const widestParams = 500;

/** Renders the first line of a run: `▶ nightly-etl  01997c3e-1a2b  env=prod`, with the parameters as given. */
export function headerLine(
  workflow: Pick<Workflow, 'name' | 'secrets'>,
  created: Pick<Extract<StoredEvent, { type: 'run.created' }>, 'runId' | 'params'>,
  terminal: Pick<Terminal, 'color' | 'unicode'> & Partial<Pick<Terminal, 'isTerminal' | 'size'>>,
): string {
  const colors = createColors(terminal.color);
  const glyphs = chooseGlyphs(terminal.unicode);
  const params = paramsText(hideSecretParams(created.params, workflow));
  const plain = (text: string) => text;
  const name = nameText(workflow.name, glyphs.ellipsis);
  const parts = [
    { text: `${glyphs.run} ${name}`, paint: () => `${colors.cyan(glyphs.run)} ${colors.bold(name)}` },
    { text: escapeControls(shortId(created.runId)), paint: colors.dim },
    ...(params === '' ? [] : [{ text: cut(params, widestParams, glyphs.ellipsis), paint: plain }]),
  ];
  return packLines(parts, 2, columnsOf(terminal)).join('\n');
}
