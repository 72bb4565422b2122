import type { Attempt } from '../executor.ts';
import type { Hop, ResponseHead } from './redirect.ts';
import type { ResponseReader } from './request.ts';
import type { HttpSettings } from './settings.ts';
import { shownHeader, shownUrl } from './shown.ts';

/** A reader that prints an answer; `end` prints what could not be printed before the answer was complete. */
export type Printer = ResponseReader & { readonly end: () => void };

/**
 * Prints the status line, the headers, a blank line and the body as it comes; `silent`: the body only. With `json` it is one
 * object, printed at the end: `status_code`, `headers` (lists by name) and `body`, which is the JSON that came or else a text.
 * With `debug` requests and redirects go to standard error.
 */
export function printer({ silent, json, debug }: HttpSettings, { write }: Attempt): Printer {
  const chunks: Uint8Array[] = [];
  let head: ResponseHead | null = null;
  return {
    onHop: (hop, proxy) => {
      if (debug) write('stderr', describeHop(hop, proxy));
    },
    onHead: (received) => {
      head = received;
      // Headers are bytes, whatever their encoding.
      if (!silent && !json) write('stdout', Buffer.from(headText(received), 'latin1'));
    },
    onBody: (chunk) => {
      if (json) chunks.push(chunk);
      else write('stdout', chunk);
    },
    end: () => {
      if (json && head !== null) write('stdout', jsonText(silent ? null : head, Buffer.concat(chunks).toString()));
    },
  };
}

function headText({ httpVersion, status, statusText, headers }: ResponseHead): string {
  const lines = [`HTTP/${httpVersion} ${status} ${statusText}`.trimEnd(), ...headers.map((pair) => pair.join(': '))];
  return `${lines.join('\n')}\n\n`;
}

/** A body of JSON is put in as it is: no number in it changes. */
function jsonText(head: ResponseHead | null, body: string): string {
  const value = isJson(body) ? body.trim() : JSON.stringify(body);
  const shown = head === null ? null : { status_code: head.status, headers: headerLists(head) };
  const begin = shown === null ? '{' : `${JSON.stringify(shown, null, 2).slice(0, -2)},`;
  return `${begin}\n  "body": ${value}\n}\n`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Under names spelled alike from every server: `Content-Type`. */
function headerLists({ headers }: ResponseHead): Record<string, string[]> {
  const lists: Record<string, string[]> = {};
  for (const [name, value] of headers) {
    const spelled = name.toLowerCase().replace(/(?:^|-)[a-z]/g, (letter) => letter.toUpperCase());
    lists[spelled] = [...(lists[spelled] ?? []), value];
  }
  return lists;
}

function describeHop({ method, url, headers, body }: Hop, proxy: URL | null): string {
  const by = proxy === null ? '' : ` (through the proxy ${shownUrl(proxy)})`;
  const lines = headers.map(([name, value]) => `${name}: ${shownHeader(name, value)}`);
  const size = body === '' ? [] : [`(${Buffer.byteLength(body)} bytes of body)`];
  return [`${method} ${shownUrl(url)}${by}`, ...lines, ...size].map((line) => `> ${line}\n`).join('');
}
