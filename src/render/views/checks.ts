import type { Check } from '#doctor/machine.ts';
import type { Terminal } from '../reporters/reporter.ts';
import { createColors } from '../text/colors.ts';
import { chooseGlyphs } from '../text/glyphs.ts';
import { escapeControls } from '../text/sanitize.ts';

/** Renders one line per check, and one with the fix for each failed check. Ends with a line break. */
export function renderChecks(
  checks: readonly Check[],
  { color, unicode }: Pick<Terminal, 'color' | 'unicode'>,
): string {
  const colors = createColors(color);
  const { status } = chooseGlyphs(unicode);
  const widths = {
    name: Math.max(...checks.map(({ name }) => name.length)),
    version: Math.max(...checks.map(({ version }) => (version ?? '').length)),
  };
  const lines = checks.flatMap(({ name, ok, version, detail, help }) => [
    [
      ok ? colors.green(status.succeeded) : colors.red(status.failed),
      name.padEnd(widths.name),
      escapeControls(version ?? '').padEnd(widths.version),
      escapeControls(detail),
    ].join('  '),
    ...(help === null ? [] : [`   ${colors.dim(`help: ${escapeControls(help)}`)}`]),
  ]);
  return lines.map((line) => `${line}\n`).join('');
}
