import { variableName } from '../build/assignments.ts';
import { parseParamDefaults } from '../params.ts';
import { type Path, type Problem, problem } from '../problem.ts';
import { asList } from '../raw.ts';
import { type SpecFile, spotIn } from '../read/spec-file.ts';
import { type ActionEntry, actionEntries } from './step/action-entries.ts';

/** `$NAME`, `${NAME...}`, `$1`, and escaped dollars, to skip them. */
const reference = /\\\$|\$(?:\{([A-Za-z_]\w*|\d+)[^}]*\}|([A-Za-z_]\w*|[1-9]))/g;

/**
 * Warns about parameters and outputs in the query of a URL: their values are not encoded, so that `&` and `=` in a
 * value change the request. `settings` are the base and the root, `files` all files with steps or handlers.
 */
export function queryProblems(settings: readonly SpecFile[], files: readonly SpecFile[]): Problem[] {
  const entries = files.flatMap(actionEntries);
  const urls = entries.flatMap((entry) => urlTexts(entry).map((url) => ({ ...url, entry })));
  const used = urls.map((url) => ({ ...url, names: queryNames(url.text) })).filter(({ names }) => names.length > 0);
  if (used.length === 0) return [];
  const known = valuesFromOutside(settings, entries);
  return used.flatMap(({ entry, path, names }) => {
    const raw = names.filter((name) => known.has(name) || /^\d/.test(name));
    if (raw.length === 0) return [];
    const shown = raw.map((name) => `$${name}`).join(', ');
    const message = `${entry.what}: ${shown} in the query of a URL is not encoded: "&" and "=" in a value change the request`;
    const help = 'Use "query" in the "config" of the executor, which encodes values.';
    return [problem('raw-query', spotIn(entry.file, path), message, { severity: 'warning', help })];
  });
}

/** The texts of a step that form its URL, each with its path. */
function urlTexts({ path, raw }: ActionEntry): readonly { readonly text: string; readonly path: Path }[] {
  const { executor } = raw;
  const type = typeof executor === 'string' ? executor : executor?.type;
  if (type === 'webhook') {
    const url = typeof executor === 'string' ? undefined : executor?.config?.['url'];
    return typeof url === 'string' ? [{ text: url, path: [...path, 'executor', 'config', 'url'] }] : [];
  }
  if (type !== 'http') return [];
  const { command } = raw;
  const words =
    typeof command === 'string'
      ? [{ text: unquoted(command), path: [...path, 'command'] }]
      : asList(command).map((text, index) => ({ text, path: [...path, 'command', index] }));
  return [...words, ...(raw.args ?? []).map((text, index) => ({ text, path: [...path, 'args', index] }))];
}

/** Between single quotes a dollar is not special. */
function unquoted(command: string): string {
  return /\s'[^']*'\s*$/.test(command) ? '' : command;
}

/** The variables between `?` and `#`. */
function queryNames(text: string): readonly string[] {
  // A question mark within braces does not start a query.
  const plain = text.replace(/\$\{[^}]*\}/g, (variable) => '_'.repeat(variable.length));
  const start = plain.indexOf('?');
  if (start === -1) return [];
  const end = plain.indexOf('#', start);
  const query = text.slice(start, end === -1 ? text.length : end);
  return [...new Set([...query.matchAll(reference)].flatMap(([, braced, name]) => braced ?? name ?? []))];
}

/** The names of parameters and outputs; values in `env` are the author's own. */
function valuesFromOutside(settings: readonly SpecFile[], entries: readonly ActionEntry[]): ReadonlySet<string> {
  const params = settings.flatMap(({ raw }) => parseParamDefaults(raw.params).flatMap(({ name }) => name ?? []));
  const outputs = entries.flatMap(({ raw }) =>
    typeof raw.output === 'string' ? (variableName(raw.output) ?? []) : [],
  );
  return new Set([...params, ...outputs]);
}
