import { readFileSync, writeFileSync } from 'node:fs';
import { expect } from 'vitest';

/**
 * Compares what a person reads with `goldens/<name>.txt`, or rewrites that file when `WF_UPDATE_GOLDENS` is set. The
 * escape character is written as `␛` and the carriage return as `␍`, so that both can be reviewed.
 */
export function expectGolden(name: string, text: string): void {
  const file = new URL(`../goldens/${name}.txt`, import.meta.url);
  const visible = text.replaceAll('\u001b', '␛').replaceAll('\r', '␍');
  if (process.env['WF_UPDATE_GOLDENS']) writeFileSync(file, visible);
  expect(visible).toBe(readFileSync(file, 'utf8'));
}
