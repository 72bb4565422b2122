import type { Template } from '#core/workflow.ts';
import { MailProblem } from './mail-problem.ts';

/** A mail address; `name` is empty if only the address is known. */
export type Address = { readonly name: string; readonly address: string };

/**
 * Trims a text for use in a header. Throws a `MailProblem` for a line break or NUL, which could inject headers and
 * recipients.
 */
export function headerText(text: string, key: string): string {
  const trimmed = text.trim();
  if (/[\r\n\0]/.test(trimmed))
    throw new MailProblem(`"${key}" contains a line break, which is not allowed in headers`);
  return trimmed;
}

/**
 * Parses the addresses in one or several comma-separated texts after replacing variables: `ops@example.com`, `Ops
 * <ops@example.com>`, `"Doe, Jo" <jo@example.com>`, or the name of a local user of the server. Throws a `MailProblem`
 * for anything else: a recipient must never be dropped silently.
 */
export function addresses(
  texts: readonly Template[],
  key: string,
  expand: (text: Template) => string,
): readonly Address[] {
  return texts.flatMap((text) => splitList(headerText(expand(text), key))).map((text) => parseAddress(text, key));
}

/** Splits at commas outside quotes. */
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
