import { expandText } from '../../core/words/interpolate.ts';
import type { Scope } from '../executor.ts';

/** Strings of JSON, and what is between them. */
const parts = /"[^"\\]*(?:\\[\s\S][^"\\]*)*"|[^"]+|"/g;

/**
 * Replaces the variables of a text that is JSON, at the latest when they are replaced: within its strings a value is
 * escaped, so that quotes and line ends in it change nothing around it; elsewhere (`{"timeout": $T}`, `$DOCUMENT`) it is put
 * in as it is.
 */
export function expandJson(template: string, scope: Scope): string {
  if (!template.includes('$')) return template;
  return template.replace(parts, (part) => {
    const isString = part.length > 1 && part.startsWith('"');
    return isString ? expandText(unescapeDollars(part), scope, escapeJson) : expandText(part, scope);
  });
}

/** A value as it stands within a string of JSON. */
export function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

/** JSON writes the backslash of `\$` as two. */
function unescapeDollars(string: string): string {
  return string.replaceAll('\\\\$', '\\$');
}
