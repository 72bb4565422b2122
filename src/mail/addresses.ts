import type { Template } from '../core/workflow.ts';
import { MailProblem } from './problem.ts';

/** Somebody a mail comes from or goes to; `name` is empty where only the address is known. */
export type Address = { readonly name: string; readonly address: string };

/**
 * A text that becomes a header, without blanks around it. Throws a `MailProblem` for a line break or NUL inside: whoever
 * can put one there could add headers and receivers of their own.
 */
export function headerText(text: string, key: string): string {
  const trimmed = text.trim();
  if (/[\r\n\0]/.test(trimmed)) throw new MailProblem(`"${key}" has a line break, which no header may have`);
  return trimmed;
}

/**
 * The addresses of one or several texts, each of which may hold several with commas, once its variables are replaced:
 * `ops@example.com`, `Ops <ops@example.com>`, `"Doe, Jo" <jo@example.com>`, or the name of a user of the server's own
 * machine. Throws a `MailProblem` for anything else, since a receiver must not be left out in silence.
 */
export function addresses(
  texts: readonly Template[],
  key: string,
  expand: (text: Template) => string,
): readonly Address[] {
  return texts.flatMap((text) => splitList(headerText(expand(text), key))).map((text) => parseAddress(text, key));
}

/** Splits at commas that are in no quotes. */
function splitList(text: string): readonly string[] {
  const entries = text.match(/(?:"(?:[^"\\]|\\.)*"|[^,"]|")+/g) ?? [];
  return entries.map((entry) => entry.trim()).filter((entry) => entry !== '');
}

function parseAddress(text: string, key: string): Address {
  const [, name = '', address = text] = /^(.*?)\s*<([^<>]*)>$/.exec(text) ?? [];
  if (/^[^\s<>@",;:()[\]\\]+(?:@[^\s<>@",;()\\]+)?$/.test(address)) return { name: unquoted(name), address };
  throw new MailProblem(`${JSON.stringify(text)} in "${key}" is not an address such as name@example.com`);
}

function unquoted(name: string): string {
  return /^".*"$/.test(name) ? name.slice(1, -1).replace(/\\(.)/g, '$1') : name;
}
