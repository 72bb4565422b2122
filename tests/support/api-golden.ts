import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';
import type { Answer, Sent } from './api-server.ts';
import type { ApiWorld } from './api-world.ts';

/** A request to be asked. */
export type Asked = readonly [method: string, path: string, sent?: Sent];

const isUpdating = process.env['WF_UPDATE_GOLDENS'] === '1';
/** What is shown of the headers. */
const shown = ['location', 'content-range', 'content-disposition'];

/** Sends requests in order, waits for their runs, and compares the answers with a file; `WF_UPDATE_GOLDENS=1` rewrites it. */
export async function expectAnswers(golden: string, world: ApiWorld, asked: readonly Asked[]): Promise<void> {
  const texts: string[] = [];
  let before: unknown = null;
  for (const [method, path, sent] of asked) {
    const answer = await world.ask(method, path, sent);
    texts.push(
      `> ${method} ${path}${sentText(sent)}\n${answer.status}\n${headersText(answer)}${bodyText(answer, before, world.stable)}`,
    );
    before = isJson(answer) ? JSON.parse(answer.body) : null;
    await world.runs.settled();
  }
  const actual = world.stable(texts.join('\n'));
  if (isUpdating) writeFileSync(golden, actual);
  expect(actual).toBe(readFileSync(golden, 'utf8'));
}

function headersText({ headers }: Answer): string {
  return shown.flatMap((name) => (headers[name] === undefined ? [] : [`${name}: ${headers[name]}\n`])).join('');
}

function sentText({ body, headers }: Sent = {}): string {
  const text =
    body instanceof URLSearchParams ? body.toString() : typeof body === 'object' ? JSON.stringify(body) : body;
  const lines = Object.entries(headers ?? {}).map(([name, value]) => `\n> ${name}: ${value}`);
  return `${lines.join('')}${text === undefined ? '' : `\n> ${text}`}`;
}

/** What is long and the same as in the answer before is left out. */
function bodyText(answer: Answer, before: unknown, stable: ApiWorld['stable']): string {
  if (!isJson(answer)) return answer.body;
  const known = new Map(Object.entries(before ?? {}).map(([key, value]) => [key, JSON.stringify(value)]));
  const body = Object.entries(JSON.parse(answer.body)).map(([key, value]) => {
    const text = JSON.stringify(value);
    return [key, text.length > 200 && text === known.get(key) ? '(as before)' : value];
  });
  return `${layOut(Object.fromEntries(body), '', stable)}\n`;
}

function isJson({ headers }: Answer): boolean {
  return /^application\/(problem\+)?json/.test(headers['content-type'] ?? '');
}

/** JSON in which only what does not fit a line is spread over several, wherever the temporary directory is. */
function layOut(value: unknown, indent: string, stable: ApiWorld['stable']): string {
  const line = JSON.stringify(value);
  if (typeof value !== 'object' || value === null || stable(line).length + indent.length < 120) return line;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const entries = Object.entries(value).map(([key, each]) => {
    const name = Array.isArray(value) ? '' : `${JSON.stringify(key)}: `;
    return `${indent}  ${name}${layOut(each, `${indent}  `, stable)}`;
  });
  return `${open}\n${entries.join(',\n')}\n${indent}${close}`;
}
