/** A command that the runner of GitHub Actions found in what a step has printed. */
export type FoundCommand = { readonly name: string; readonly line: string };

const known = new Set(
  'error warning notice debug group endgroup stop-commands add-mask add-matcher set-env set-output save-state echo'.split(
    ' ',
  ),
);

/**
 * Reads a log as the runner does: lines end at `\n`, `\r` or both; `::name` may follow spaces, the older `##[name` may be
 * anywhere; between `stop-commands` and its token nothing counts.
 */
export function readAsRunner(log: string): readonly FoundCommand[] {
  const found: FoundCommand[] = [];
  let token: string | null = null;
  for (const line of log.split(/\r\n|\r|\n/)) {
    const name = commandName(line, token);
    if (name === null) continue;
    if (token !== null) {
      if (name === token) token = null;
      continue;
    }
    found.push({ name, line });
    if (name === 'stop-commands') token = line.trimStart().slice('::stop-commands::'.length).toLowerCase();
  }
  return found;
}

function commandName(line: string, token: string | null): string | null {
  const trimmed = line.trimStart();
  const name = (/^::([^: ]+)[^:]*::/.exec(trimmed)?.[1] ?? /##\[([^\] ]+)/.exec(line)?.[1] ?? '').toLowerCase();
  return known.has(name) || name === token ? name : null;
}
