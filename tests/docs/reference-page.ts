import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { expect } from 'vitest';

const docs = resolve(import.meta.dirname, '../../docs/reference');

/** Compares a page of the reference with the generated text; `WF_UPDATE_GOLDENS=1` rewrites it. */
export function expectPage(name: string, text: string): void {
  const path = resolve(docs, name);
  if (process.env['WF_UPDATE_GOLDENS'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
}

/** Of a page that is written by hand, what stands between `<!-- part -->` and `<!-- /part -->` is generated. */
export function expectPart(name: string, part: string, text: string): void {
  const page = readFileSync(resolve(docs, name), 'utf8');
  const [start, end] = [`<!-- ${part} -->\n`, `<!-- /${part} -->\n`];
  if (!page.includes(start) || !page.includes(end)) throw new Error(`${name} has no ${start}${end}`);
  const before = page.slice(0, page.indexOf(start) + start.length);
  expectPage(name, before + text + page.slice(page.indexOf(end)));
}

/** A table in Markdown. */
export function table(heads: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]) => `| ${cells.map(cell).join(' | ')} |\n`;
  return `${line(heads)}|${'---|'.repeat(heads.length)}\n${rows.map(line).join('')}`;
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
