import { expandText } from '#core/words/interpolate.ts';
import type { Scope } from '../executor.ts';

/** Strings of JSON, and the text between them. */
const PARTS = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^"]+|"/g;

/**
 * Expands the variables of a text that is JSON, at least after expansion: within strings, values are escaped so that
 * quotes and line ends cannot break out; elsewhere (`{"timeout": $T}`, `$DOCUMENT`) they are inserted verbatim.
 */
export function expandJson(template: string, scope: Scope): string {
  if (!template.includes('$')) return template;
  return template.replace(PARTS, (part) => {
    const isString = part.length > 1 && part.startsWith('"');
    return isString ? expandText(unescapeDollars(part), scope, escapeJson) : expandText(part, scope);
  });
}

/** Escapes a value for use within a JSON string. */
export function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** In JSON the backslash of `\$` is written twice. */
function unescapeDollars(string: string): string {
  return string.replaceAll('\\\\$', '\\$');
}
